/**
 * Finds in the logs on this machine how the processes of silent attempts ended.
 *
 * Owns: assigning lines to attempts. Does not own: the lines (`lib/aws/telemetry.ts`; for a killed process
 * the local cloud writes one), their files (`local-files.ts`).
 *
 * The execution's record does not contain this, because a dying process has no time for a write. On AWS log
 * queries cost money, so only the command `logs` makes them.
 */

import type { ExecutionView, Reasons } from '../../lib/api/answers.ts';
import { LocalFiles } from './local-files.ts';
import { deathLine, type LogLine, linesOf, type LogSource } from '../../lib/view/log-line.ts';

const EXITS = 'process-exits';
const ANSWER_WITHIN_MS = 2_000;
const WHY = /\/executions\/[^/]+(?=\/why$)/u;

/**
 * Wraps `fetch` for an API on this machine: the answer of `why` then also says how silent processes ended.
 * @param logs a folder with a log for each function; by default, the folder of the local cloud that answers
 */
export function fetchWithExits(send: typeof fetch, logs?: string): typeof fetch {
  // Caches the lines of the latest execution, because a page asks again after each write.
  let known = { id: '', lines: [] as LogLine[], files: undefined as LocalFiles | undefined };
  return async (input, init) => {
    const answer = await send(input, init);
    const url = new URL(String(input instanceof Request ? input.url : input));
    const [execution] = WHY.exec(url.pathname) ?? [];
    if (execution === undefined || !answer.ok) return answer;
    const reasons = (await answer.clone().json()) as Reasons;
    if (!reasons.past.some(isSilent)) return answer;
    const { executionId: id } = reasons;
    if (known.id !== id) {
      const folder = logs ?? (await logsOf(send, url));
      const files = folder === undefined ? undefined : new LocalFiles(folder, exitLines(id));
      known = { id, lines: [], files };
    }
    const { lines, files } = known;
    const next = async (): Promise<readonly LogLine[]> => {
      lines.push(...((await files?.next()) ?? []));
      return lines;
    };
    const [view, functions] = await Promise.all([
      answered<ExecutionView>(send(`${url.origin}${execution}`, init)),
      answered<readonly Served[]>(send(`${url.origin}/_local/functions`, timely())),
    ]);
    const shown = await withExits(reasons, view, { next }, functions);
    return Response.json(shown, { status: answer.status });
  };
}

/** A function of the local cloud, and the agents whose queues it reads. */
export interface Served {
  readonly name: string;
  readonly agents: readonly string[];
}

const timely = (): RequestInit => ({ signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });

/** The body of an answer; undefined if there is none. */
const answered = <Body>(answer: Promise<Response>): Promise<Body | undefined> =>
  answer
    .then(async (one) => (one.ok ? ((await one.json()) as Body) : undefined))
    .catch((): undefined => undefined);

/** The folder of the local cloud's logs; undefined if no local cloud answers. */
async function logsOf(send: typeof fetch, { origin }: URL): Promise<string | undefined> {
  const facts = await answered<{ readonly logs?: unknown }>(send(`${origin}/_local/`, timely()));
  return typeof facts?.logs === 'string' ? facts.logs : undefined;
}

/** Selects the lines of an execution's processes, and those about the ends of processes. */
export function exitLines(executionId: string): (text: string, source: string) => LogLine | undefined {
  const read = linesOf({ executionId, children: false, level: 'warn' });
  return (text, source) => read(text, source) ?? deathLine(text, source);
}

type Past = Reasons['past'][number];

/**
 * Adds to each silent attempt how its process ended.
 * @param view undefined if it could not be read; then only the processes' own lines are used
 * @param functions undefined if no local cloud answers; then, too, only the processes' own lines are used
 */
export async function withExits(
  reasons: Reasons,
  view: Pick<ExecutionView, 'steps'> | undefined,
  logs: LogSource,
  functions: readonly Served[] = [],
): Promise<Reasons> {
  if (!reasons.past.some(isSilent)) return reasons;
  const lines = await logs.next().catch((): readonly LogLine[] => []);
  const exits = lines.filter(({ entry }) => entry['message'] === EXITS);
  const deaths = lines.filter(({ executionId }) => executionId === '');
  const agentOf = (step: string | undefined): string | undefined =>
    view?.steps.find(({ name }) => name === step)?.agent;
  const said = (one: Past): string =>
    exitSaid(one, exits) ?? deathSaid(one, agentOf(one.step), deaths, functions) ?? '';
  return {
    ...reasons,
    past: reasons.past.map((one) => (isSilent(one) ? { ...one, what: `${one.what}${said(one)}` } : one)),
  };
}

const isSilent = ({ evidence }: Past): boolean =>
  (Object(evidence['failure']) as { code?: unknown }).code === 'lease-ended';

const isWithin = ({ at }: LogLine, one: Past): boolean =>
  at >= Number(one.evidence['claimedAt']) && at <= one.at;

function exitSaid(one: Past, exits: readonly LogLine[]): string | undefined {
  const exit = exits.find(
    (line) =>
      line.entry['step'] === one.step && line.entry['mode'] === one.evidence['mode'] && isWithin(line, one),
  );
  return exit && `: its process ended with exit code ${String(exit.entry['exitCode'])}`;
}

/**
 * Lambda's line about the death of a process that may have been this attempt's. It names no attempt, so the
 * process may have run another attempt of the agent, or of an agent that shares the function.
 */
function deathSaid(
  one: Past,
  agent: string | undefined,
  deaths: readonly LogLine[],
  functions: readonly Served[],
): string | undefined {
  const { name, agents = [] } = functions.find((each) => each.agents.includes(agent ?? '')) ?? {};
  const death = deaths.find((line) => line.source === name && isWithin(line, one));
  if (agent === undefined || death === undefined) return undefined;
  const others = agents.length === 2 ? '1 other agent' : `${agents.length - 1} other agents`;
  const whose = agents.length === 1 ? `of ${agent}` : `that ${agent} shares with ${others}`;
  const how = String(death.entry['message']).replace(
    /^RequestId: \S+ (Error: Runtime exited with error: )?/u,
    '',
  );
  return ` (a process ${whose} ended meanwhile: ${how})`;
}
