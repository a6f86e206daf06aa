/**
 * What an agent's file says of itself: whose handler it exports, and whether
 * that has what the agent declares.
 *
 * Owns: the reading of its text, and the refusals. Does not own: which file is whose (`discover.ts`), the
 * loading of a module (`handlers.ts`), the same where it runs (`agent/handler.ts`).
 *
 * Most files are not run for that: one may open connections or ask for secrets. Their text suffices: the one
 * `x.handler({ … })` of a file, its `x` imported from the workflow or the contracts beside it, and the keys
 * of its object.
 * Where parts are spread into it, or it is made elsewhere, the module is asked.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, resolve } from 'node:path';
import type * as Esbuild from 'esbuild';
import { partsOf, uselessPartsOf } from '../core/plan/agent-parts.ts';

/** What is read of a declaration; structural, because the infrastructure does not know the core. */
export type DeclaredSpec = { readonly name: string } & Partial<Parameters<typeof partsOf>[0]>;

/** What an author may have meant who wrote no such part. */
const WITHOUT_PART = {
  undo: "undo: 'none' where there is nothing to undo",
  probe: "effect: 'idempotent' where the service deduplicates",
} as const;

/** An agent's file, beside a workflow that is loaded. */
export interface AgentFile {
  readonly file: string;
  /** For messages. */
  readonly shown: string;
  readonly spec: DeclaredSpec;
  readonly workflowFile: string;
  /** What the workflow's file exports. */
  readonly exported: Readonly<Record<string, unknown>>;
}

/** What its text says: what is wrong with it, that it is sound, or that only the module can tell. */
export type Reading = { readonly problem: string } | 'sound' | 'unseen';

export function agentFileReading(given: AgentFile): Reading {
  return readingOf(uncommented(given.file), given);
}

/** The agent of the workflow's whose handler a file exports, if its text says it. */
export function agentIn(given: Omit<AgentFile, 'spec' | 'shown'>): string | undefined {
  const text = uncommented(given.file);
  const [call, another] = text.matchAll(CALL);
  return another === undefined ? agentCalled(call?.[1] ?? '', text, given) : undefined;
}

/** The same of its module. @returns what is wrong, in a sentence that says which file holds what */
export function handlerProblem(
  given: AgentFile,
  agent: string | undefined,
  parts: readonly string[],
): string | undefined {
  if (agent === undefined) return undefined;
  if (agent !== given.spec.name) return strangerIn(given, agent);
  return lackIn(given, (part) => parts.includes(part));
}

const CALL = /([\w$]+)\.handler\s*\(\s*(\{)?/g;

/** One that says its own code, and has no declaration. */
const OWN_FUNCTION = /\bhandler\s*(?::[^=]*)?=\s*(?:async\s*)?(?:\(|function\b)|\bfunction\s+handler\b/;

function readingOf(text: string, given: AgentFile): Reading {
  const calls = [...text.matchAll(CALL)];
  const [, local = '', isLiteral] = calls[0] ?? [];
  if (calls.length === 0) {
    const isElsewhere = /\bhandler\b|export\s*\*/.test(text) && !OWN_FUNCTION.test(text);
    return isElsewhere && !text.includes('remoteAgent') ? 'unseen' : 'sound';
  }
  const meant = agentCalled(local, text, given);
  if (calls.length > 1) return 'unseen';
  if (meant !== undefined && meant !== given.spec.name) return { problem: strangerIn(given, meant) };
  // What is spread into it, made elsewhere or under a key that is no name is not seen.
  const own = isLiteral === undefined ? undefined : ownText(text, calls[0]);
  if (own === undefined || /\.\.\.|[{,]["[]/.test(own)) return 'unseen';
  const problem = lackIn(given, (part) => new RegExp(`[{,](?:async )?${part}[:,}(]`).test(own));
  if (problem === undefined) return 'sound';
  // What is called may be no agent at all.
  return meant === undefined ? 'unseen' : { problem };
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

const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/y;

/**
 * The object that the call is given, without what its braces, brackets and texts hold. Nothing where it does
 * not end with the call: a brace in a regular expression was counted.
 */
function ownText(text: string, call: RegExpExecArray | undefined): string | undefined {
  let depth = 0;
  let own = '{';
  for (let at = (call?.index ?? 0) + (call?.[0].length ?? 1) - 1; at < text.length; at += 1) {
    STRING.lastIndex = at;
    const quoted = STRING.exec(text)?.[0];
    const one = text[at] ?? '';
    const isEnd = '}])'.includes(one);
    if (isEnd) depth -= 1;
    if (depth === 0 && isEnd) return text[at + 1] === ')' ? `${own}}` : undefined;
    if (depth === 1 && !isEnd) own += quoted === undefined ? one : '"';
    if ('{[('.includes(one)) depth += 1;
    if (quoted !== undefined) at += quoted.length - 1;
  }
  return undefined;
}

const specOf = (value: unknown): DeclaredSpec | undefined => {
  const { kind, spec } = Object(value) as { kind?: unknown; spec?: DeclaredSpec };
  return kind === 'steadfast:agent' ? spec : undefined;
};

const withoutEnding = (path: string): string => path.slice(0, path.length - extname(path).length);

/**
 * The agent of this local name: as the loaded workflow exports it, or as the text of the file that it is
 * imported from says.
 */
function agentCalled(
  local: string,
  text: string,
  { file, workflowFile, exported }: Omit<AgentFile, 'spec' | 'shown'>,
): string | undefined {
  for (const [, names = '', from = ''] of text.matchAll(/import\s*\{([^}]*)\}\s*from\s*['"]([^'"]+)['"]/g)) {
    const path = resolve(dirname(file), from);
    for (const name of names.split(',')) {
      const [imported = '', own = imported] = name
        .trim()
        .replace(/^type\s+/, '')
        .split(/\s+as\s+/);
      if (own !== local) continue;
      if ([path, withoutEnding(path)].includes(withoutEnding(workflowFile)))
        return specOf(exported[imported])?.name;
      const declared = new RegExp(`\\b${imported.replaceAll('$', '\\$')}=agent\\(["']([^"']+)["']`);
      return from.startsWith('.') ? declared.exec(uncommented(path))?.[1] : undefined;
    }
  }
  return undefined;
}

/** As it is run, without comments. Where it does not parse, that is said when it is bundled. */
export function uncommented(file: string): string {
  try {
    const loader = extname(file).endsWith('ts') ? 'ts' : 'js';
    const text = readFileSync(file, 'utf8');
    // Loaded when it is needed: a server asks the modules instead.
    const { transformSync } = createRequire(import.meta.url)('esbuild') as typeof Esbuild;
    return transformSync(text, { loader, minifyWhitespace: true, legalComments: 'none' }).code;
  } catch {
    return '';
  }
}
