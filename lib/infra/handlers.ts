/**
 * What agents' files export, asked of their modules: whose handler it is, and whether that has what the
 * agent declares.
 *
 * Owns: the process in which they are loaded, what is reported of them, and the refusals. Does not own: which
 * file is whose (`discover.ts`), the same where it runs (`agent/handler.ts`).
 *
 * A process of its own, which is ended as soon as it has answered: an author's module may open connections,
 * change what is global, or never come to an end.
 */

import { spawn } from 'node:child_process';
import { partsOf, uselessPartsOf } from '../core/plan/agent-parts.ts';
import { programFile, typescriptLoader } from '../project/package-files.ts';

/** The parts of a declaration that are read. */
export type DeclaredSpec = { readonly name: string } & Partial<Parameters<typeof partsOf>[0]>;

/** An agent's file, beside a workflow that is loaded. */
export interface AgentFile {
  readonly file: string;
  /** For messages. */
  readonly shown: string;
  readonly spec: DeclaredSpec;
  /** What the workflow's file exports. */
  readonly exported: Readonly<Record<string, unknown>>;
}

/** The declaration that an author may have meant who wrote no such part. */
const WITHOUT_PART = {
  undo: "undo: 'none' where there is nothing to undo",
  probe: "effect: 'idempotent' where the service deduplicates",
} as const;

/**
 * What one file exports: whose handler, and what that has, or why it is not known. Without an
 * agent it is no handler of ours. `refused`: the mistake for which the handler was not made.
 */
export type Handled =
  | { readonly file: string; readonly agent?: string; readonly parts: readonly string[] }
  | { readonly file: string; readonly failed: string }
  | { readonly file: string; readonly refused: string };

/** @param root where the process runs */
export type AskHandlers = (files: readonly string[], root: string) => Promise<readonly Handled[]>;

/** For one file. */
const PATIENCE_MS = 30_000;
/** Characters of what it wrote last, in which the reason of its end is looked for. */
const MOST_ERRORS = 4_000;

/**
 * Each file has an answer. One is to blame for the end of its process only where no other was loaded in it:
 * what an earlier one has begun may end it later. Behind one that hangs all others are asked at once, each in
 * a process of its own, so that what they share keeps nobody waiting once more for each of them.
 */
export const handlersIn: AskHandlers = async (files, root) => {
  if (files.length === 0) return [];
  const { lines, end, isHung } = await answersOf(files, root);
  const left = files.slice(lines.length);
  const [ended, ...others] = left;
  if (ended === undefined) return lines;
  if (lines.length > 0 && !isHung) return [...lines, ...(await handlersIn(left, root))];
  const rest = isHung
    ? (await Promise.all(others.map((file) => handlersIn([file], root)))).flat()
    : await handlersIn(others, root);
  return [...lines, { file: ended, failed: end }, ...rest];
};

function answersOf(
  files: readonly string[],
  root: string,
): Promise<{ readonly lines: readonly Handled[]; readonly end: string; readonly isHung: boolean }> {
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
    let isHung = false;
    const timer = setTimeout(() => {
      isHung = true;
      child.kill('SIGKILL');
    }, PATIENCE_MS);
    child.stdio[3]?.on('data', (part: Buffer) => {
      timer.refresh();
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
      // A line that was not written to its end is no answer.
      const lines = text.split('\n').slice(0, -1);
      resolve({ lines: lines.map((line) => JSON.parse(line) as Handled), end, isHung });
    });
  });
}

/** @returns what is wrong, in a sentence that says which file holds what */
export function handlerProblem(
  given: AgentFile,
  agent: string | undefined,
  parts: readonly string[],
): string | undefined {
  if (agent === undefined) return undefined;
  if (agent !== given.spec.name) return strangerIn(given, agent);
  return lackIn(given, (part) => parts.includes(part));
}

function strangerIn({ shown, spec, exported }: AgentFile, agent: string): string {
  const own = Object.keys(exported).find((key) => specOf(exported[key])?.name === spec.name);
  return `${shown} exports the handler of the agent '${agent}'; it must be that of '${spec.name}': export const handler = ${own ?? '…'}.handler({ … })`;
}

function lackIn({ shown, spec }: AgentFile, has: (part: string) => boolean): string | undefined {
  if (spec.effect === undefined) return undefined;
  const declared = { ...spec, effect: spec.effect, undo: spec.undo ?? 'none' };
  const part = partsOf(declared).find((name) => !has(name));
  if (part !== undefined)
    return `${shown} has no ${part}, with which the agent '${spec.name}' is declared: write ${part}, or declare ${WITHOUT_PART[part]}`;
  const useless = uselessPartsOf(declared).find(has);
  if (useless === undefined) return undefined;
  return `${shown} has a ${useless}, which is never called: the agent '${spec.name}' is declared with effect: '${spec.effect}' and no probe; leave it out, or declare effect: 'probed'`;
}

const specOf = (value: unknown): DeclaredSpec | undefined => {
  const { kind, spec } = Object(value) as { kind?: unknown; spec?: DeclaredSpec };
  return kind === 'steadfast:agent' ? spec : undefined;
};
