/**
 * The exports of agents' files: whose handler each has, and whether it has the parts that the agent declares.
 *
 * Owns: the process in which the files are loaded, its reports, and the refusals. Does not own: which file
 * belongs to which agent (`discover.ts`), the same check at run time (`agent/handler.ts`).
 *
 * The process is ended as soon as it has answered, because an author's module may open connections, change
 * globals, or hang.
 */

import { spawn } from 'node:child_process';
import { partsOf, uselessPartsOf } from '../core/plan/agent-parts.ts';
import { programFile, typescriptLoader } from '../project/package-files.ts';

/** The parts of a declaration that are read. */
export type DeclaredSpec = { readonly name: string } & Partial<Parameters<typeof partsOf>[0]>;

/** An agent's file, beside a workflow that is loaded. */
export interface AgentFile {
  readonly file: string;
  /** The path in messages. */
  readonly shown: string;
  readonly spec: DeclaredSpec;
  /** The exports of the workflow's file. */
  readonly exported: Readonly<Record<string, unknown>>;
}

/** The declaration that the author may have meant if a part is missing. */
const WITHOUT_PART = {
  undo: "undo: 'none' where there is nothing to undo",
  probe: "effect: 'idempotent' where the service deduplicates",
} as const;

/**
 * The result for one file: the agent and the parts of its handler, or why they are unknown. Without an agent
 * the export is not a handler of ours. `refused`: the error that prevented the handler.
 */
export type Handled =
  | { readonly file: string; readonly agent?: string; readonly parts: readonly string[] }
  | { readonly file: string; readonly failed: string }
  | { readonly file: string; readonly refused: string };

/** @param root the working directory of the process */
export type AskHandlers = (files: readonly string[], root: string) => Promise<readonly Handled[]>;

/** The time for one file. */
const PATIENCE_MS = 30_000;
/** The number of last characters of output in which the reason of an exit is searched. */
const MOST_ERRORS = 4_000;

/**
 * Every file gets an answer. If the process dies, a file is blamed only if it was the only one loaded,
 * because an earlier one may be the cause. After a file that hangs, all others are loaded at once, each in a
 * process of its own, so that a common cause takes its time only once.
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
    // Modules may print anything, so the answers have a channel of their own.
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
      // An incomplete line does not count as an answer.
      const lines = text.split('\n').slice(0, -1);
      resolve({ lines: lines.map((line) => JSON.parse(line) as Handled), end, isHung });
    });
  });
}

/** @returns the mistake, in a sentence that names the files and the handlers in them */
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
