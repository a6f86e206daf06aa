/**
 * Finds references that a workflow's function tests as if they were values: `if (w.input.gift)`,
 * `!gift`, `gift && …`, `gift ? … : …`; and those that it compares, `if (kind === 'box')`,
 * `switch (kind)`, `if (eq(kind, 'box'))`; or asks for, `gift ?? false`, `{ gift = false } = w.input`.
 *
 * Owns: finding them, and the words. Does not own: another run of the function
 * (`author/builder/rebuild.ts`), paths that lead nowhere (`author/schemas/reference-check.ts`),
 * sums and texts, which a reference refuses itself.
 *
 * A reference cannot notice that it is tested: an object is true. So the function is run again with something
 * false in the place of a reference. Where that makes other steps, it was tested, in whatever words. Where it
 * is nowhere in what was built, it was compared. Where nothing at all in its place gives another value than
 * nothing, a default was taken. A function whose steps are others each time is believed.
 */

import { existsSync, readFileSync } from 'node:fs';
import { type Declared, rebuilt } from '../author/builder/rebuild.ts';
import { type MakeRef, nameOf, ref, type RefSource } from '../core/plan/refs.ts';
import type { FoundWarning } from './discovery.ts';

/** False, and nothing that a plan has: it shows where it was put. */
const FALSE = 0n;

/**
 * Up to so many reads each is tried; of a larger workflow one run with all of them
 * shows first whether any is tested.
 */
const FEW_READS = 300;
const MOST_READS = 1_000;

interface Tested {
  readonly name: string;
  readonly children?: readonly Tested[];
}

/** One for each reference that is tested, in a workflow and in those that it runs. */
export function testedReferences(workflow: Tested, file: string, shown: string): FoundWarning[] {
  const { name, children = [] } = workflow;
  const own = testedIn(workflow, file).map(({ reference, line, how }) => {
    return {
      id: `steadfast:testedReference[${name}/${reference}]`,
      message: `${shown}${line()}: workflow '${name}' ${WORDS[how](reference)}: give the step a condition (when: eq(${reference}, …) or when: exists(${reference})), or take a default with orElse`,
    };
  });
  return [...own, ...children.flatMap((child) => testedReferences(child, file, shown))];
}

type How = 'tested' | 'compared' | 'defaulted';

const WORDS: Readonly<Record<How, (reference: string) => string>> = {
  tested: (reference) =>
    `tests ${reference} as if it were a value (if, !, &&, ||, ?:), but while the workflow is built it is always true`,
  compared: (reference) =>
    `reads ${reference} and gives it to no step: compared while the workflow is built (===, switch, typeof, if (eq(…))), it is the same for every execution`,
  defaulted: (reference) =>
    `asks whether ${reference} is there (??, = in a pattern, == null, === undefined), but while the workflow is built it always is, so the default never applies`,
};

interface Found {
  readonly reference: string;
  /** Made of a stack, which takes longer than the run. */
  readonly line: () => string;
  /** And no whole input or output, which each handle has. */
  readonly isField: boolean;
  readonly how: How;
}

function testedIn(workflow: Tested, file: string): Found[] {
  const run = (isFalse: IsFalse): Run | undefined => runWith(workflow, isFalse, file);
  const isDefaulted = (at: number, ran: Run, one: Found): boolean => {
    const isOther = (value: 'absent' | 'null'): boolean =>
      (run((read) => read === at && value) ?? ran).rest(value) !== ran.rest(value);
    // The default of a parameter applies where its function is called without one.
    return (
      isOther('absent') && (isOther('null') || hasDefault(one, file) || isComparedWithNothing(one, file))
    );
  };
  const plain = run(() => false);
  if (plain === undefined || plain.steps !== run(() => false)?.steps) return [];
  const isAny = run(() => true)?.shape() !== plain.shape();
  if (!isAny && plain.reads > FEW_READS) return [];
  const [found, compared, defaulted] = [0, 1, 2].map(() => new Map<string, Found>()) as [Told, Told, Told];
  for (let at = 1; at <= Math.min(plain.reads, MOST_READS); at += 1) {
    let one: Found | undefined;
    const ran = runWith(
      workflow,
      (read) => read === at,
      file,
      (put) => (one = put),
    );
    if (one === undefined || found.has(one.reference)) continue;
    if (ran?.steps !== plain.steps) found.set(one.reference, one);
    else if (!ran.isUsed() && one.isField) compared.set(one.reference, { ...one, how: 'compared' });
    else if (isDefaulted(at, ran, one)) defaulted.set(one.reference, { ...one, how: 'defaulted' });
  }
  if (found.size > 0 || !isAny) return [...new Map([...defaulted, ...compared, ...found]).values()];
  // In `a || b` neither alone changes anything: the first of so many that do together. Whole inputs and
  // outputs have fields.
  const upTo =
    (most: number): IsFalse =>
    (read, path) =>
      read <= most && path.length > 0;
  let [low, high] = [0, plain.reads];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (run(upTo(middle))?.shape() === plain.shape()) low = middle;
    else high = middle;
  }
  let last: Found | undefined;
  runWith(workflow, upTo(high), file, (put) => (last = put));
  return [...defaulted.values(), ...(last === undefined ? [] : [last])];
}

/** `{ gift = false } = w.input`, on the line that reads it. */
function hasDefault(one: Found, file: string): boolean {
  const key = keyOf(one);
  const after = (linesOf(file)[Number(one.line().slice(1)) - 1] ?? '').split(key).slice(1);
  return key !== '' && after.some((rest) => /^(?:\s*:\s*[\p{L}\p{N}_$]+)?\s*=(?![=>])/u.test(rest));
}

/** `gift === undefined`, `typeof gift === 'undefined'`, on any line. */
function isComparedWithNothing(one: Found, file: string): boolean {
  const key = keyOf(one).replaceAll('$', String.raw`\$`);
  const compared = new RegExp(String.raw`\b${key}\s*[!=]==?\s*["']?undefined\b`, 'u');
  return key !== '' && linesOf(file).some((line) => compared.test(line));
}

const keyOf = ({ reference }: Found): string => /[\p{L}\p{N}_$]+$/u.exec(reference)?.[0] ?? '';
const linesOf = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];

type Told = Map<string, Found>;

interface Reference {
  readonly $ref: RefSource;
  readonly path: readonly string[];
}

interface Run {
  readonly reads: number;
  /** As text, in which what is false is the reference that it stands for. */
  readonly steps: string;
  /** As text in which all references are the same. */
  readonly shape: () => string;
  /** As text, without what is put in the place of the reference, and without it and its fields elsewhere. */
  readonly rest: (left: 'absent' | 'null') => string;
  /** What is false was given to something, or its fields were read. */
  readonly isUsed: () => boolean;
}

/** What stands for a reference, by the number of its read, from 1, and its path; true: `FALSE`. */
type IsFalse = (read: number, path: readonly string[]) => boolean | 'absent' | 'null';

/**
 * Runs its function; nothing where that fails.
 * @param note called with each that is
 */
function runWith(
  workflow: Tested,
  isFalse: IsFalse,
  file: string,
  note?: (found: Found) => void,
): Run | undefined {
  let reads = 0;
  let latest: Reference | undefined;
  const make: MakeRef = (source, path) => {
    reads += 1;
    const is = isFalse(reads, path);
    if (is === false) return ref(source, path, make);
    latest = { $ref: source, path };
    const at = note && new Error();
    const line = (): string => lineOf(at?.stack, file);
    note?.({ reference: nameOf(source, path), line, isField: path.length > 0, how: 'tested' });
    return is === 'absent' ? undefined : is === 'null' ? null : FALSE;
  };
  let isReadOn = false;
  const fieldOf = (key: string): unknown => {
    isReadOn = true;
    return latest === undefined ? undefined : make(latest.$ref, [...latest.path, key]);
  };
  try {
    const declared = withFields(fieldOf, () => rebuilt(workflow, make));
    if (declared === undefined) return undefined;
    return {
      reads,
      steps: textOf(declared, latest ?? {}),
      shape: () => textOf(declared),
      rest: restOf.bind(undefined, declared, latest),
      isUsed: () => isReadOn || JSON.stringify(declared, asGiven).includes(GIVEN),
    };
  } catch {
    return undefined;
  }
}

/**
 * What stands for a reference has fields, as a reference has. Only while a function
 * runs, which is never interrupted.
 */
function withFields<T>(fieldOf: (key: string) => unknown, run: () => T): T {
  const fields = new Proxy(Object.create(null) as object, {
    get: (_, key) => (typeof key === 'string' ? fieldOf(key) : undefined),
  });
  const before: unknown = Object.getPrototypeOf(BigInt.prototype);
  Object.setPrototypeOf(BigInt.prototype, fields);
  try {
    return run();
  } finally {
    Object.setPrototypeOf(BigInt.prototype, before as object);
  }
}

/**
 * Which step comes after which follows from what it reads, and is left out.
 * @param stood what is false stands for; absent: all references are the same
 */
const textOf = (declared: Declared, stood?: unknown): string =>
  JSON.stringify(declared, (key, value: unknown) => {
    if (key === 'after') return undefined;
    if (typeof value === 'bigint') return stood ?? 'a reference';
    return isReference(value) && stood === undefined ? 'a reference' : unquoted(value);
  });

/** @param left the reference that is left out: read elsewhere, it is there in one run and not in the other */
function restOf({ output, ...others }: Declared, left: Reference | undefined, of: 'absent' | 'null'): string {
  const isLeft = (value: unknown): boolean =>
    typeof value === 'bigint' ||
    (of === 'null' && value === null) ||
    (isReference(value) && value.$ref === left?.$ref && left.path.every((key, at) => value.path[at] === key));
  const declared = { ...others, output: isLeft(output) ? {} : output };
  return JSON.stringify(declared, (key, value: unknown) =>
    key === 'after' || isLeft(value) ? undefined : unquoted(value),
  );
}

/** A key with a `$` is quoted in another way where its value is a reference. */
function unquoted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { $object: fields, $literal: literal } = value as Readonly<Record<string, unknown>>;
  return Array.isArray(fields) ? Object.fromEntries(fields as [string, unknown][]) : (literal ?? value);
}

const isReference = (value: unknown): value is Reference =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, '$ref');

const GIVEN = 'steadfast:given';
const asGiven = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? GIVEN : value);

/** ':12', where the file reads it. */
function lineOf(stack: string | undefined, file: string): string {
  const line = /^\d+/.exec(stack?.split(`${file}:`)[1] ?? '')?.[0];
  return line === undefined ? '' : `:${line}`;
}
