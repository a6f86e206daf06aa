/**
 * Starts the demo's environment: a fresh local cloud, and the outside world as a separate process.
 *
 * Owns: the choice of the workflow, ending the start after an interrupt, and the count of refused reports by
 * process. Does not own: the demo.
 */

import { resolve } from 'node:path';
import { type LocalCloud, startCloud } from 'steadfast/testing';

const PROJECT = resolve(import.meta.dirname, '..', '..', '..');
const NAME = 'order-fulfilment';
/** The message of the line that an agent logs when its report is refused. */
const REFUSED = '"report-refused"';

export interface StageOptions {
  /** Port of the HTTP API; 0 for any free one. */
  readonly port: number;
  readonly say: (text: string) => void;
  /** Aborted by an interrupt; then everything is stopped. */
  readonly signal: AbortSignal;
}

export interface DemoStage {
  readonly cloud: LocalCloud;
  /** How many reports of a process were refused so far, by the lines that it logged. */
  readonly refusedReports: (pid: number) => number;
}

export async function setStage({ port, say, signal }: StageOptions): Promise<DemoStage> {
  const refused = new Map<number, number>();
  say(
    'Synthesising the template that would be deployed, and starting a local cloud from it and the outside world …',
  );
  const cloud = await startCloud({
    project: PROJECT,
    context: { 'steadfast:only': NAME },
    only: [NAME],
    port,
    // The demo calls the supervisor by hand instead of waiting for the minute.
    schedules: false,
    signal,
    onLog: ({ pid, line }) => {
      if (line.includes(REFUSED)) refused.set(pid, (refused.get(pid) ?? 0) + 1);
    },
  });
  return { cloud, refusedReports: (pid) => refused.get(pid) ?? 0 };
}
