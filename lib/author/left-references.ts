/**
 * Finds references that a workflow's function reads and does not use in any step, condition or output: they
 * were tested as if they were values (`if (w.input.gift)`), compared, or computed with.
 *
 * Owns: finding them, and the words. Does not own: paths that lead nowhere (`schemas/reference-check.ts`),
 * sums and texts, which a reference refuses itself. A reference that a step also uses is not noticed.
 */

import { expressionsOf } from '../core/plan/plan.ts';
import { nameOf, type NoteRead } from './references.ts';
import { refsIn } from '../core/plan/refs-in.ts';
import type { Workflow } from '../core/plan/workflow.ts';

/** Identified by name, because another copy of the package may have declared the workflow. */
const LEFT: unique symbol = Symbol.for('steadfast.leftReferences');

interface Read {
  readonly reference: string;
  /** An error made where the field was read; its stack is computed when somebody asks for it. */
  readonly at: Error;
}

interface FieldsRead {
  readonly note: NoteRead;
  readonly all: ReadonlyMap<string, Read>;
}

const keyOf = (source: string, path: readonly string[]): string => [source, ...path].join('\0');

/** Collects the first read of each field. */
export function fieldsRead(): FieldsRead {
  const all = new Map<string, Read>();
  const note: NoteRead = (source, path) => {
    const key = keyOf(source, path);
    if (!all.has(key)) all.set(key, { reference: nameOf(source, path), at: new Error('read here') });
  };
  return { note, all };
}

/** The workflow with its unused reads. A field counts as used if it, or a field of it, is in the plan. */
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

/** The unused references of a workflow, and of the workflows that it runs. */
export function leftReferences(workflow: Workflow): LeftReference[] {
  const { name, children } = workflow;
  const left = (workflow as { readonly [LEFT]?: readonly Read[] })[LEFT] ?? [];
  const own = left.map(({ reference, at }) => {
    const message = `workflow '${name}' reads ${reference} and gives it to no step: tested (if, !, &&, ||, ?:, ===, switch) or computed with while the workflow is built, it is the same for every execution: give the step a condition (when: eq(${reference}, …) or when: exists(${reference})), or take a default with orElse`;
    return { workflow: name, reference, message, stack: at.stack };
  });
  return [...own, ...children.flatMap(leftReferences)];
}
