/**
 * Selects the published declarations: from each file, the statements that the types of an entry need.
 *
 * Owns: cutting a file into statements, and finding the needed ones. Does not own: the source of the files
 * (`build.ts`). Pure. Any word that equals a declared name keeps that declaration, so the result may be too
 * large, but never too small.
 */

import { dirname, join } from 'node:path';

interface Statement {
  readonly text: string;
  /** The names that it declares; empty for an import. */
  readonly names: readonly string[];
}
interface Imported {
  readonly from: string;
  /** The name in the other module; '*' means all of them. */
  readonly name: string;
}
interface Module {
  readonly statements: readonly Statement[];
  /** Imports by their local name. */
  readonly imported: ReadonlyMap<string, Imported>;
}

const DECLARED =
  /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type|const|let|function|enum|namespace) ([\w$]+)/;
/** Without `from` it exports names of its own module. */
const NAMES = /^(import|export)( type)? \{([^}]*)\}(?: from '([^']+)')?;$/s;
const WHOLE = /^import(?: type)? (?:\* as )?([\w$]+) from '([^']+)';$/;
const INLINE = /\bimport\(["']([^"']+)["']\)\.([\w$]+)/g;

const withoutComments = (text: string): string => text.replaceAll(/\/\*[^]*?\*\/|\/\/[^\n]*/g, '');

const BEGINS = /^(?:export|import|declare|abstract|interface|type|class|const)\b/;

/** Cuts a file into statements. A comment belongs to the code after it, which may be the rest of a type. */
function cut(text: string): string[] {
  const statements: string[] = [];
  let comment = '';
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    if (line.startsWith('/**')) comment = line;
    else if (comment !== '' && line.startsWith(' *')) comment += `\n${line}`;
    else {
      const whole = comment === '' ? line : `${comment}\n${line}`;
      comment = '';
      if (BEGINS.test(line) || statements.length === 0) statements.push(whole);
      else statements.push(`${statements.pop() ?? ''}\n${whole}`);
    }
  }
  return statements;
}

interface Specifier {
  readonly text: string;
  readonly there: string;
  readonly here: string;
}
const specifiersOf = (list: string): Specifier[] =>
  list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .map((text) => {
      const [there = '', here = there] = text.replace(/^type /, '').split(' as ');
      return { text, there, here };
    });

function moduleOf(text: string): Module {
  const imported = new Map<string, Imported>();
  const statements = cut(text).map((statement) => {
    const bare = withoutComments(statement).trim();
    const [, kind, , list = '', from] = NAMES.exec(bare) ?? [];
    const [, name, whole = ''] = WHOLE.exec(bare) ?? [];
    if (name !== undefined) imported.set(name, { from: whole, name: '*' });
    if (kind !== undefined && from !== undefined)
      for (const { here, there } of specifiersOf(list)) imported.set(here, { from, name: there });
    const names = kind === 'export' ? specifiersOf(list).map(({ here }) => here) : [];
    const [, declared] = DECLARED.exec(bare) ?? [];
    return { text: statement, names: declared === undefined ? names : [declared] };
  });
  return { statements, imported };
}

/** @param entries files that are kept whole @param texts by path @returns the needed part of each file */
export function neededDeclarations(
  entries: readonly string[],
  texts: ReadonlyMap<string, string>,
): Map<string, string> {
  const modules = new Map([...texts].map(([path, text]) => [path, moduleOf(text)]));
  const used = new Map<string, Set<string>>();
  const queue: (readonly [path: string, name: string])[] = [];
  const ask = (path: string, name: string): void => {
    const known = used.get(path) ?? new Set();
    used.set(path, known);
    if (known.has(name)) return;
    known.add(name);
    queue.push([path, name]);
  };
  const there = (path: string, from: string): string => join(dirname(path), from).replace(/\.js$/, '.d.ts');
  for (const path of entries)
    for (const { names } of modules.get(path)?.statements ?? []) for (const name of names) ask(path, name);
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const [path, name] = next;
    const found = modules.get(path);
    if (found === undefined) continue;
    const import_ = found.imported.get(name);
    if (import_ !== undefined) {
      const all = modules.get(there(path, import_.from))?.statements.flatMap(({ names }) => names) ?? [];
      for (const one of import_.name === '*' ? all : [import_.name]) ask(there(path, import_.from), one);
    }
    for (const { text, names } of found.statements) {
      if (!names.includes(name)) continue;
      const bare = withoutComments(text).trim();
      const listed = NAMES.exec(bare);
      if (listed !== null && listed[4] === undefined)
        for (const one of specifiersOf(listed[3] ?? '')) if (one.here === name) ask(path, one.there);
      if (listed !== null) continue;
      for (const [word] of bare.matchAll(/[\w$]+/g)) ask(path, word);
      for (const [, from = '', inner = ''] of bare.matchAll(INLINE)) ask(there(path, from), inner);
    }
  }
  return new Map(
    [...modules].flatMap(([path, found]) => {
      const names = used.get(path);
      const kept = found.statements.flatMap((one) => keptOf(one, names ?? new Set()));
      return names === undefined || kept.length === 0 ? [] : [[path, `${kept.join('\n')}\n`] as const];
    }),
  );
}

/**
 * An import or an export with only the names that are used; `export {}` remains, because it makes a file a
 * module.
 */
function keptOf({ text, names }: Statement, used: ReadonlySet<string>): string[] {
  const bare = withoutComments(text).trim();
  const [, kind, type = '', list = '', from] = NAMES.exec(bare) ?? [];
  if (kind !== undefined && list.trim() !== '') {
    const few = specifiersOf(list).filter(({ here }) => used.has(here));
    const ending = from === undefined ? ';' : ` from '${from}';`;
    return few.length === 0 ? [] : [`${kind}${type} { ${few.map((one) => one.text).join(', ')} }${ending}`];
  }
  const [, whole] = WHOLE.exec(bare) ?? [];
  if (whole !== undefined) return used.has(whole) ? [text] : [];
  return names.length === 0 || names.some((name) => used.has(name)) ? [text] : [];
}
