/**
 * How the processes of attempts that went silent ended, as their logs on this machine say it.
 *
 * Owns: which line belongs to which attempt. Does not own: the line (`lib/aws/telemetry.ts`),
 * where lines are (`local-files.ts`).
 *
 * The execution's record cannot know: a process that ends has no time for a write. Of a deployment on AWS
 * each query of the logs costs money, so it is made by `logs` alone.
 */

import type { Reasons } from '../../lib/api/answers.ts';
import type { LogLine, LogSource } from '../../lib/view/log-line.ts';

const EXITS = 'process-exits';

type Past = Reasons['past'][number];

/** With the exit code in what is said of each attempt that went silent; as it is where no log can be read. */
export async function withExits(reasons: Reasons, source: LogSource): Promise<Reasons> {
  if (!reasons.past.some(isSilent)) return reasons;
  const lines = await source.next().catch(() => []);
  const exits = lines.filter(({ entry }) => entry['message'] === EXITS);
  return { ...reasons, past: reasons.past.map((one) => (isSilent(one) ? told(one, exits) : one)) };
}

const isSilent = ({ evidence }: Past): boolean =>
  (Object(evidence['failure']) as { code?: unknown }).code === 'lease-ended';

function told(one: Past, exits: readonly LogLine[]): Past {
  const { claimedAt, mode } = one.evidence;
  const exit = exits.find(
    ({ at, entry }) =>
      entry['step'] === one.step && entry['mode'] === mode && at >= Number(claimedAt) && at <= one.at,
  );
  if (exit === undefined) return one;
  return { ...one, what: `${one.what}: its process ended with exit code ${String(exit.entry['exitCode'])}` };
}
