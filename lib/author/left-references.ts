/**
 * Finds references that a workflow's function reads but does not use in any step, condition or output: the
 * author tested one as if it were a value (`if (w.input.gift)`), compared it, or computed with it.
 *
 * Owns: this search, and its messages. Does not own: paths that do not exist (`schemas/reference-check.ts`),
 * sums and texts, which a reference itself refuses. A reference that a step also uses is not found.
 */

import { expressionsOf } from '../core/plan/plan.ts';
import { nameOf, type NoteRead } from './references.ts';
import { refsIn } from '../core/plan/refs-in.ts';
import type { Workflow } from '../core/plan/workflow.ts';

/** Identified by name, because another copy of the package may have declared the workflow. */
const LEFT: unique symbol = Symbol.for('steadfast.leftReferences');

interface Read {
  readonly reference: string;
  /** An error made where the field was read; V8 formats its stack only when `stack` is read. */
  readonly at: Error;
}

interface FieldsRead {
  readonly note: NoteRead;
  readonly all: ReadonlyMap<string, Read>;
}

const keyOf = (source: string, path: readonly string[]): string => [source, ...path].join('\0');

/** Records the first read of each field. */
export function fieldsRead(): FieldsRead {
  const all = new Map<string, Read>();
  const note: NoteRead = (source, path) => {
    const key = keyOf(source, path);
    if (!all.has(key)) all.set(key, { reference: nameOf(source, path), at: new Error('read here') });
  };
  return { note, all };
}

/**
 * Returns the workflow with its unused reads. A field counts as used if the plan contains it or one of its
 * fields.
 */
export function withLeft<W extends Workflow>(workflow: W, { all }: FieldsRead): W {
  const { steps, onFailure = [], output } = workflow.plan;
  const taken = new Set(
    [...[...steps, ...onFailure].flatMap(expressionsOf), output]
      .flatMap(refsIn)
      .flatMap(({ source, path }) => path.map((_, at) => keyOf(source, path.slice(0, at + 1)))),
  );
  const left = [...all].flatMap(([key, read]) => (taken.has(key) ? [] : [read]));
  return left.length === 0 ? workflow : Object.defineProperty(workflow, LEFT, { value: left });
}

export interface LeftReference {
  readonly workflow: string;
  readonly reference: string;
  readonly message: string;
  /** Where the field was read. */
  readonly stack: string | undefined;
}

/** Returns the unused references of a workflow, and of the workflows that it runs. */
export function leftReferences(workflow: Workflow): LeftReference[] {
  const { name, children } = workflow;
  const left = (workflow as { readonly [LEFT]?: readonly Read[] })[LEFT] ?? [];
  const own = left.map(({ reference, at }) => {
    const message = `workflow '${name}' reads ${reference} and gives it to no step: tested (if, !, &&, ||, ?:, ===, switch) or computed with while the workflow is built, it is the same for every execution: give the step a condition (when: eq(${reference}, …) or when: exists(${reference})), or take a default with orElse`;
    return { workflow: name, reference, message, stack: at.stack };
  });
  return [...own, ...children.flatMap(leftReferences)];
}
