/**
 * Encoding with `ffmpeg`, a process for each job.
 *
 * Owns: its options, reading its progress, and making it wait while progress is reported. Does not own:
 * ending it with the attempt (all processes of an attempt are killed with it).
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { Encoder, Job } from './encoder.ts';

export const ffmpeg: Encoder = {
  name: 'ffmpeg',
  film: async (file, seconds) => {
    const picture = `testsrc2=duration=${seconds}:size=1920x1080:rate=10`;
    const video = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '10', '-f', 'mp4'];
    await ended(run('ffmpeg', ['-y', '-f', 'lavfi', '-i', picture, ...video, file]));
  },
  secondsOf: async (file) => {
    const show = ['-show_entries', 'format=duration', '-of', 'default=nokey=1:noprint_wrappers=1'];
    const probe = run('ffprobe', [...show, file]);
    const [shown] = await Promise.all([text(probe.stdout), ended(probe)]);
    return Math.round(Number(shown));
  },
  encode: async (job) => {
    const process = run('ffmpeg', optionsOf(job), job.signal);
    await Promise.all([follow(process, job), ended(process)]);
  },
};

const optionsOf = ({ source, target, from, seconds, height }: Job): string[] => {
  const told = ['-y', '-nostats', '-progress', 'pipe:1', '-stats_period', '0.1'];
  const read = ['-ss', String(from), '-t', String(seconds), '-i', source];
  const video = ['-vf', `scale=-2:${height}`, '-c:v', 'libx264', '-preset', 'ultrafast'];
  return [...told, ...read, ...video, '-output_ts_offset', String(from), '-f', 'mpegts', target];
};

type Running = ReturnType<typeof run>;

const run = (program: string, options: readonly string[], signal?: AbortSignal) =>
  spawn(program, ['-v', 'error', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
    killSignal: 'SIGKILL',
    ...(signal === undefined ? {} : { signal }),
  });

async function ended(process: Running): Promise<void> {
  const [code, signal] = (await once(process, 'close')) as [number | null, string | null];
  if (code !== 0) throw new Error(`${process.spawnfile} has ended with ${code ?? signal}`);
}

/** Reads the progress line by line; ffmpeg blocks until each line is handled. */
async function follow(process: Running, { seconds, at }: Job): Promise<void> {
  for await (const line of createInterface({ input: process.stdout })) {
    const [word, value] = line.split('=');
    if (word !== 'out_time_us' || !(Number(value) >= 0)) continue;
    process.kill('SIGSTOP');
    await at(Math.min(1, Number(value) / 1e6 / seconds));
    process.kill('SIGCONT');
  }
}
