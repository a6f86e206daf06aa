/**
 * Checks on a local cloud whether the supervisors' schedule is on. If it is off, the verdict about the
 * deployment begins with that.
 *
 * Owns: the call of the local cloud's control, and changing the answer. Does not own: the words
 * (`explain/situation.ts`). On AWS, an API may not read its schedules; there only overdue executions show the
 * fault.
 */

import { serverTime } from './server-time.ts';
import { type Finding, situationText, verdictOf, worstFirst } from '../lib/api/answers.ts';

interface Situation {
  readonly status: string;
  readonly says: string;
  readonly findings: readonly Finding[];
}

/** The parts of the overview that are read here. */
interface Counted {
  readonly open?: { readonly count: number; readonly atLeast?: true };
  readonly health: Situation;
  readonly sweptAt: number;
}

/** The logical id of a schedule that `Supervisor` declares (`infra/supervisor-clock.ts`). */
const TICK = /SupervisorTick\d*[0-9A-F]{8}$/;
const SITUATIONS = /\/(?:overview|health)$/;
const ANSWER_WITHIN_MS = 2_000;

/** A `fetch` for an API on this machine. */
export const withSchedules =
  (send: typeof fetch): typeof fetch =>
  async (input, init) => {
    const answer = await send(input, init);
    const url = new URL(String(input instanceof Request ? input.url : input));
    const off = SITUATIONS.test(url.pathname) ? await offSchedule(send, url) : undefined;
    if (off === undefined) return answer;
    const body = (await answer.clone().json()) as Situation & Partial<Counted>;
    if (body.health !== undefined)
      return answered(answer, { ...body, health: switchedOff(body.health, off, url.origin, body) });
    return body.findings === undefined ? answer : answered(answer, switchedOff(body, off, url.origin));
  };

const answered = ({ status }: Response, body: unknown): Response => Response.json(body, { status });

function switchedOff(
  health: Situation,
  { disabledAt: since }: Schedule,
  address: string,
  { open, sweptAt }: Partial<Counted> = {},
): Situation {
  const off = {
    kind: 'schedule-off' as const,
    address,
    ...(since === undefined ? {} : { since }),
    ...(sweptAt === undefined ? {} : { sweptAt }),
    ...(open === undefined ? {} : { waiting: open.count }),
    ...(open?.atLeast === undefined ? {} : { atLeast: open.atLeast }),
  };
  const findings = worstFirst([off, ...health.findings]);
  return {
    ...health,
    status: verdictOf(findings),
    says: situationText(findings, serverTime.now()),
    findings,
  };
}

interface Schedule {
  readonly logicalId: string;
  readonly enabled: boolean;
  readonly disabledAt?: number;
}

/** The disabled schedule; undefined if there is none, or if no local cloud answers. */
async function offSchedule(send: typeof fetch, { origin }: URL): Promise<Schedule | undefined> {
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const answer = await send(`${origin}/_local/schedules`, { signal });
    const schedules = (await answer.json()) as readonly Schedule[];
    return schedules.find(({ logicalId, enabled }) => TICK.test(logicalId) && !enabled);
  } catch {
    return undefined;
  }
}
