/**
 * What agents' files export, asked of their modules where their text does not say it (`agent-files.ts`).
 *
 * Owns: the process in which they are loaded, and what is reported of them. Does not own: when
 * they are asked, what is refused.
 *
 * A process of its own, which is ended as soon as it has answered: an author's module may open connections,
 * change what is global, or never come to an end.
 */

import { spawn } from 'node:child_process';
import { programFile, typescriptLoader } from '../project/package-files.ts';

/**
 * What one file exports: whose handler, and what that has, or why it is not known. Without an
 * agent it is no handler of ours.
 */
export type Handled =
  | { readonly file: string; readonly agent?: string; readonly parts: readonly string[] }
  | { readonly file: string; readonly failed: string };

/** @param root where the process runs */
export type AskHandlers = (files: readonly string[], root: string) => Promise<readonly Handled[]>;

/** For all files together, loading included. */
const PATIENCE_MS = 30_000;
/** Characters of what it wrote last, in which the reason of its end is looked for. */
const MOST_ERRORS = 4_000;

/** Each file has an answer: behind one that ended the process the others are asked in another one. */
export const handlersIn: AskHandlers = async (files, root) => {
  if (files.length === 0) return [];
  const { lines, end } = await answersOf(files, root);
  const [ended, ...others] = files.slice(lines.length);
  if (ended === undefined) return lines;
  return [...lines, { file: ended, failed: end }, ...(await handlersIn(others, root))];
};

function answersOf(
  files: readonly string[],
  root: string,
): Promise<{ readonly lines: readonly Handled[]; readonly end: string }> {
  const args = ['--import', typescriptLoader(), programFile('lib/infra/handlers-process')];
  return new Promise((resolve) => {
    // Modules print what they like; the answers have a channel of their own.
    const child = spawn(process.execPath, [...args, ...files], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
    let text = '';
    let errors = '';
    let end = `it did not load within ${PATIENCE_MS / 1_000} s`;
    const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
    child.stdio[3]?.on('data', (part: Buffer) => {
      text += part.toString('utf8');
    });
    child.stderr?.on('data', (part: Buffer) => {
      errors = (errors + part.toString('utf8')).slice(-MOST_ERRORS);
    });
    child.on('error', (error) => {
      end = error.message;
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const why = errors.split('\n').find((line) => /\bError\b/.test(line));
      if (signal === null)
        end = `its process ended with ${code}${why === undefined ? '' : `: ${why.trim()}`}`;
      // What it had not written to its end is no answer.
      const lines = text.split('\n').slice(0, -1);
      resolve({ lines: lines.map((line) => JSON.parse(line) as Handled), end });
    });
  });
}
