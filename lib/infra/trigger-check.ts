/**
 * Compares triggers with the inputs of their workflows: those beside a workflow when both are loaded, so that
 * `serve` and a stack refuse the same ones, and a stack's own at synthesis.
 *
 * Owns: the problems that are certain before any event comes. Does not own: the resources of a trigger
 * (`triggers.ts`).
 */

import { type GivenInput, misfitsOf } from '../author/schemas/input-check.ts';
import { standardOf } from '../author/schemas/json-schema-check.ts';
import { type InputShape, mappingProblems } from '../author/schemas/reference-check.ts';
import { scheduleProblem } from '../author/triggers/schedule-check.ts';
import {
  type AnswerOptions,
  type DeclaredTrigger,
  isSending,
  type SendingOptions,
  type TriggerOptions,
} from '../author/triggers/trigger-declaration.ts';
import type { Expr } from '../core/plan/refs.ts';
import { DiscoveryError, type FoundTrigger, type FoundWorkflow } from './discovery.ts';
import {
  compiledTrigger,
  EVENT,
  MESSAGE,
  OBJECT_CREATED,
  SCHEDULE,
  type SourceKind,
  unknownMessage,
  WEBHOOK,
} from './event-shapes.ts';

const KINDS: Readonly<Record<DeclaredTrigger['on'], SourceKind>> = {
  object: OBJECT_CREATED,
  event: EVENT,
  schedule: SCHEDULE,
  message: MESSAGE,
  webhook: WEBHOOK,
};

/** The input of a workflow that was found. */
interface Started {
  /** Absent if it cannot be reached here; then the shape counts. */
  readonly schema?: unknown;
  /** Absent if its schema does not describe it. */
  readonly shape?: InputShape | undefined;
  readonly messages?: readonly string[] | undefined;
}

/** @throws DiscoveryError that names the file and its export */
export function refuseTriggers(
  triggers: readonly FoundTrigger[],
  workflows: readonly FoundWorkflow[],
  schemas: ReadonlyMap<string, unknown>,
): void {
  for (const { file, exportName, trigger } of triggers) {
    const started = workflows.find(({ name }) => name === trigger.workflow);
    const { messages } = started ?? {};
    const input = started && { schema: schemas.get(started.name), shape: started.input, messages };
    const problem = triggerProblem(trigger, input);
    if (problem !== undefined) throw new DiscoveryError(`${file}, ${exportName}: ${problem}`);
  }
}

/**
 * @param started undefined for a workflow that was not found
 * @throws Error about its name, or an invalid part of a mapping
 */
function triggerProblem(trigger: DeclaredTrigger, started: Started | undefined): string | undefined {
  const { workflow, on, options } = trigger;
  const ofSchedule = on === 'schedule' ? scheduleProblem(options) : undefined;
  if (ofSchedule !== undefined) return ofSchedule;
  if (isSending(options)) return sendingProblem(KINDS[on], workflow, options, started);
  const { output, answers }: Partial<AnswerOptions> = on === 'webhook' ? options : {};
  const input = options.input ?? output ?? '$.body';
  const compiled = compiledTrigger(KINDS[on], workflow, { ...options, input } as TriggerOptions);
  // With `answers` the mapping gives an output, which the callback's schema checks at run time.
  if (started === undefined || answers !== undefined) return undefined;
  return problemOf(
    compiled.name,
    inputProblems({ mapping: input, given: compiled.input }, workflow, started),
  );
}

/**
 * The problem of a trigger that sends. Its message is compared by name; the body is checked when it comes.
 */
function sendingProblem(
  kind: SourceKind,
  workflow: string,
  options: SendingOptions,
  started: Started | undefined,
): string | undefined {
  const { name, send } = compiledTrigger(kind, workflow, options);
  if (started === undefined) return undefined;
  const first = { mapping: options.startWith, given: send?.startWith };
  const unknown = unknownMessage(options, { name: workflow, messages: started.messages ?? [] });
  return problemOf(name, [
    ...unknown,
    ...(first.given === undefined ? [] : inputProblems(first, workflow, started)),
  ]);
}

const problemOf = (name: string, problems: readonly string[]): string | undefined =>
  problems.length === 0 ? undefined : `trigger '${name}': ${problems.join('; ')}`;

/** The problems that a mapping is certain to cause. */
export function inputProblems(
  { mapping, given: input }: { readonly mapping: unknown; readonly given: unknown },
  workflow: string,
  { schema, shape }: Started,
): readonly string[] {
  const fields = shape === undefined ? [] : mappingProblems(mapping, shape);
  if (fields.length > 0) return fields;
  const asked = isSchema(schema)
    ? schema
    : shape?.certain === undefined
      ? undefined
      : standardOf(shape.certain);
  return misfitsOf({ given: input as Expr, to: `workflow '${workflow}'`, schema: asked });
}

function isSchema(schema: unknown): schema is NonNullable<GivenInput['schema']> {
  const { validate } = Object(Object(schema)['~standard']) as { validate?: unknown };
  return typeof validate === 'function';
}
