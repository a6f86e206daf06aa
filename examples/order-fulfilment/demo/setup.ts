/**
 * Starts the demo's environment: a fresh local cloud, and the outside world as a separate process.
 *
 * Owns: the choice of the workflow, and ending the start after an interrupt. Does not own: the demo.
 */

import { resolve } from 'node:path';
import { type LocalCloud, startCloud } from 'steadfast/testing';

const PROJECT = resolve(import.meta.dirname, '..', '..', '..');
const NAME = 'order-fulfilment';

export interface StageOptions {
  /** Port of the HTTP API; 0 for any free one. */
  readonly port: number;
  readonly say: (text: string) => void;
  /** Aborted by an interrupt; then everything is stopped. */
  readonly signal: AbortSignal;
}

export function setStage({ port, say, signal }: StageOptions): Promise<LocalCloud> {
  say(
    'Synthesising the template that would be deployed, and starting a local cloud from it and the outside world …',
  );
  return startCloud({
    project: PROJECT,
    context: { 'steadfast:only': NAME },
    only: [NAME],
    port,
    // The demo calls the supervisor by hand instead of waiting for the minute.
    schedules: false,
    signal,
  });
}
