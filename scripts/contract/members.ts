/**
 * The declarations of a source file, with their comments, for pages that are printed from types.
 *
 * Reads text as `npm run format` leaves it, with members on lines indented by two spaces: TypeScript 7 has no
 * API for programs. Does not own: which types a page shows (`scripts/print-reference.ts`).
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** A comment, without its stars. */
export interface Doc {
  /** One paragraph. */
  readonly text: string;
  /** The text after each tag, in order, by the tag's name. */
  readonly tags: Readonly<Record<string, readonly string[]>>;
}
export interface Member extends Doc {
  readonly name: string;
  readonly isOptional: boolean;
  /** The type on one line, as it is written: a type, or a signature that begins with `(` or `<`. */
  readonly type: string;
}
export interface Declaration extends Doc {
  readonly name: string;
  readonly extended: string;
  readonly members: readonly Member[];
  /** The first call signature of an interface that has any. */
  readonly call?: string;
}

const COMMENT = String.raw`(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?`;
/** A type that consists only of string literals. */
const TEXTS = (name: string): RegExp => new RegExp(`^export type ${name} = ((?:\\| )?'[^=]*?');$`, 'm');
const DECLARED = new RegExp(
  `^${COMMENT}(?:export )?(?:interface|class) (\\w+)([^{]*?) ?\\{\\n([\\s\\S]*?)^\\}`,
  'gm',
);
const FUNCTION = new RegExp(`^${COMMENT}export (?:async )?(?:function|const) (\\w+)`, 'gm');
const MEMBER = new RegExp(
  `^ {2}${COMMENT.replace('\\n', '\\n {2}')}((?:readonly |async |get )*)(\\w+)\\b(?! #)`,
  'gm',
);
const NO_MEMBER = /^(?:constructor|private|static)$/;

/** Code in a comment without a tag. */
const INDENTED = /^ {4}(.*)$/gm;

/** @param comment the text between its stars */
export function docOf(comment = ''): Doc {
  const lines = comment.split('\n').map((line) => line.replace(/^\s*\*? ?/, '').trimEnd());
  const [words = '', ...rest] = lines
    .join('\n')
    .trim()
    .split(/(?:^|\s)@(?=[a-z]+\b)/);
  const tags: Record<string, string[]> = {};
  const text = words.replaceAll(INDENTED, '');
  const shown = [...words.matchAll(INDENTED)].map(([, line = '']) => line);
  if (shown.length > 0) tags['example'] = [shown.join('\n')];
  for (const part of rest) {
    const [, name = '', value = ''] = /^(\w+)\s*([\s\S]*)$/.exec(part) ?? [];
    (tags[name] ??= []).push(name === 'example' ? value.trim() : oneLine(value));
  }
  return { text: oneLine(text), tags };
}
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** @returns the text up to one of `ends` outside all brackets */
function upTo(text: string, ends: string): string {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (depth === 0 && ends.includes(sign)) return text.slice(0, at);
    if ('([{<'.includes(sign)) depth += 1;
    if (')]}'.includes(sign) || (sign === '>' && text[at - 1] !== '=')) depth -= 1;
  }
  return text;
}

function memberAt(body: string, found: RegExpExecArray): Member {
  const [whole, comment, modifiers = '', name = ''] = found;
  const rest = body.slice(found.index + whole.length);
  const isOptional = rest.startsWith('?');
  const typed = isOptional ? rest.slice(1) : rest;
  // A class method has a body, which begins after its signature.
  const value = modifiers.includes('get ') ? typed.replace('():', '') : typed;
  const type = /^[(<]/.test(typed) ? upTo(value, '{;') : upTo(typed.replace(/^:/, ''), ';');
  const shown = oneLine(type)
    .replaceAll(/([([]) | (?=[)\]])|,(?= ?[)\]])|\breadonly /g, '$1')
    .replace(/^\| /, '');
  return { ...docOf(comment), name, isOptional, type: shown };
}

const membersOf = (body: string, source: string): Member[] =>
  [...body.matchAll(MEMBER)]
    .map((found) => memberAt(body, found as RegExpExecArray))
    .map((one) => ({ ...one, type: TEXTS(one.type).exec(source)?.[1] ?? one.type }))
    .filter(({ name, tags }) => !NO_MEMBER.test(name) && tags['internal'] === undefined);

const sourceOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** @throws Error if the file declares no interface and no class with this name */
export function declarationIn(path: string, wanted: string): Declaration {
  const source = sourceOf(path);
  for (const [, comment, name = '', head = '', body = ''] of source.matchAll(DECLARED)) {
    if (name !== wanted) continue;
    const [, extended = ''] = /\bextends ([\s\S]*)$/.exec(head) ?? [];
    const [call] = /^ {2}(?:<[^(]*>)?\([\s\S]*/m.exec(body) ?? [];
    const calls = call === undefined ? {} : { call: oneLine(upTo(call, ';')) };
    return {
      ...docOf(comment),
      name,
      extended: oneLine(extended),
      members: membersOf(body, source),
      ...calls,
    };
  }
  throw new Error(`${path} declares no ${wanted}`);
}

/** @throws Error if the file exports no function with this name */
export function functionIn(path: string, wanted: string): Doc & { readonly name: string } {
  for (const [, comment, name = ''] of sourceOf(path).matchAll(FUNCTION))
    if (name === wanted) return { ...docOf(comment), name };
  throw new Error(`${path} exports no ${wanted}`);
}

/** @returns the names of a function's parameters, with `?` after optional ones */
export function parametersOf(signature: string): string[] {
  const open = signature.startsWith('<') ? signature.slice(upTo(signature, '(').length) : signature;
  let rest = upTo(open.slice(1), ')');
  const names: string[] = [];
  while (rest.trim() !== '') {
    const one = upTo(rest, ',');
    rest = rest.slice(one.length + 1);
    const [, name = 'options', mark = ''] = /^\s*(?:\.\.\.)?(\w+)(\??)/.exec(one) ?? [];
    const isOptional = mark === '?' || / = /.test(one.replaceAll('=>', ''));
    names.push(`${name}${isOptional ? '?' : ''}`);
  }
  return names;
}
