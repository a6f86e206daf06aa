/**
 * Chooses the encoder: `ffmpeg` if it is installed, a stand-in otherwise.
 *
 * Owns: the interface of both, and the choice. Does not own: the work (`ffmpeg.ts`, `stand-in.ts`).
 */

import { spawnSync } from 'node:child_process';
import { ffmpeg } from './ffmpeg.ts';
import { standIn } from './stand-in.ts';

export interface Job {
  readonly source: string;
  readonly target: string;
  readonly from: number;
  readonly seconds: number;
  readonly height: number;
  readonly signal: AbortSignal;
  /** Reports the progress, 0 to 1; the encoder waits until the promise resolves. */
  readonly at: (share: number) => Promise<void>;
}

export interface Encoder {
  readonly name: string;
  /** Makes a film with this many seconds. */
  readonly film: (file: string, seconds: number) => Promise<void>;
  readonly secondsOf: (file: string) => Promise<number>;
  readonly encode: (job: Job) => Promise<void>;
}

let chosen: Encoder | undefined;

/** `VIDEO_ENCODER=stand-in` chooses the stand-in even if ffmpeg is installed. */
export function encoder(): Encoder {
  chosen ??= process.env['VIDEO_ENCODER'] === 'stand-in' || !isInstalled('ffmpeg') ? standIn : ffmpeg;
  return chosen;
}

export const isInstalled = (program: string): boolean =>
  spawnSync(program, ['-version'], { stdio: 'ignore' }).status === 0;
