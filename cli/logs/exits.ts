/**
 * Finds in the logs on this machine how the processes of silent attempts ended.
 *
 * Owns: assigning lines to attempts. Does not own: the lines (`lib/aws/telemetry.ts`; the local cloud writes
 * one for a process that could not), their files (`local-files.ts`).
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
 * A `fetch` for an API on this machine that adds to `why` how silent processes ended.
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
    const view = await send(`${url.origin}${execution}`, init)
      .then(async (one) => (one.ok ? ((await one.json()) as ExecutionView) : undefined))
      .catch((): undefined => undefined);
    return Response.json(await withExits(reasons, view, { next }), { status: answer.status });
  };
}

/** The folder of the local cloud's logs; undefined if no local cloud answers. */
async function logsOf(send: typeof fetch, { origin }: URL): Promise<string | undefined> {
  try {
    const answer = await send(`${origin}/_local/`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    const { logs } = (await answer.json()) as { readonly logs?: unknown };
    return typeof logs === 'string' ? logs : undefined;
  } catch {
    return undefined;
  }
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
 */
export async function withExits(
  reasons: Reasons,
  view: Pick<ExecutionView, 'steps'> | undefined,
  logs: LogSource,
): Promise<Reasons> {
  if (!reasons.past.some(isSilent)) return reasons;
  const lines = await logs.next().catch((): readonly LogLine[] => []);
  const exits = lines.filter(({ entry }) => entry['message'] === EXITS);
  const deaths = lines.filter(({ executionId }) => executionId === '');
  const agentOf = (step: string | undefined): string | undefined =>
    view?.steps.find(({ name }) => name === step)?.agent;
  const said = (one: Past): string => exitSaid(one, exits) ?? deathSaid(one, agentOf(one.step), deaths) ?? '';
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

/** The logical id of a function that hosts several agents. It contains the host's name, without dashes. */
const OF_HOST = /AgentsHost([a-z0-9]+)Function[0-9A-F]{8}$/u;

/**
 * Lambda's line about the death of a process that may have been this attempt's. It names no attempt, so the
 * process may have run another attempt of the agent.
 */
function deathSaid(one: Past, agent: string | undefined, deaths: readonly LogLine[]): string | undefined {
  if (agent === undefined) return undefined;
  const ofAgent = new RegExp(`Agents${agent.replaceAll('-', '')}Function[0-9A-F]{8}$`, 'u');
  const found = deaths.filter((line) => isWithin(line, one));
  const own = found.find(({ source }) => ofAgent.test(source));
  const death = own ?? found.find(({ source }) => OF_HOST.test(source));
  if (death === undefined) return undefined;
  const whose = death === own ? agent : `the host '${OF_HOST.exec(death.source)?.[1]}'`;
  const how = String(death.entry['message']).replace(
    /^RequestId: \S+ (Error: Runtime exited with error: )?/u,
    '',
  );
  return ` (a process of ${whose} ended meanwhile: ${how})`;
}
