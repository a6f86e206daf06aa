/**
 * What encodes: `ffmpeg` where it is installed, a stand-in otherwise.
 *
 * Owns: what either of them can do, and the choice. Does not own: the work (`ffmpeg.ts`, `stand-in.ts`).
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
  /** How far it is, 0 to 1; the encoder holds still until it is answered. */
  readonly at: (share: number) => Promise<void>;
}

export interface Encoder {
  readonly name: string;
  /** Makes a film of so many seconds. */
  readonly film: (file: string, seconds: number) => Promise<void>;
  readonly secondsOf: (file: string) => Promise<number>;
  readonly encode: (job: Job) => Promise<void>;
}

let chosen: Encoder | undefined;

/** `VIDEO_ENCODER=stand-in` takes the stand-in although there is an ffmpeg. */
export function encoder(): Encoder {
  chosen ??= process.env['VIDEO_ENCODER'] === 'stand-in' || !isInstalled('ffmpeg') ? standIn : ffmpeg;
  return chosen;
}

export const isInstalled = (program: string): boolean =>
  spawnSync(program, ['-version'], { stdio: 'ignore' }).status === 0;
