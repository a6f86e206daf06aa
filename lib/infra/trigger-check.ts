/**
 * A trigger beside a workflow, compared with the workflow's input where both are loaded: `serve` and a stack
 * refuse the same ones.
 *
 * Owns: what is certain before any event comes. Does not own: a stack's own triggers (`triggers.ts`), whose
 * constants no schema sees before a start.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import { misfitsOf } from '../author/schemas/input-check.ts';
import { type InputShape, mappingProblems } from '../author/schemas/reference-check.ts';
import { scheduleProblem } from '../author/triggers/schedule-check.ts';
import type {
  AnswerOptions,
  DeclaredTrigger,
  TriggerOptions,
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
  readonly schema: unknown;
  /** Absent: its schema does not say it. */
  readonly shape?: InputShape | undefined;
}

/** @throws DiscoveryError naming the file and its export */
export function refuseTriggers(
  triggers: readonly FoundTrigger[],
  workflows: readonly FoundWorkflow[],
  schemas: ReadonlyMap<string, unknown>,
): void {
  for (const { file, exportName, trigger } of triggers) {
    const started = workflows.find(({ name }) => name === trigger.workflow);
    const input = started && { schema: schemas.get(started.name), shape: started.input };
    const problem = triggerProblem(trigger, input);
    if (problem !== undefined) throw new DiscoveryError(`${file}, ${exportName}: ${problem}`);
  }
}

/**
 * @param started absent for a workflow that was not found
 * @throws Error about its name, or what is not understood in a mapping
 */
function triggerProblem(trigger: DeclaredTrigger, started: Started | undefined): string | undefined {
  const { workflow, on, options } = trigger;
  const ofSchedule = on === 'schedule' ? scheduleProblem(options) : undefined;
  if (ofSchedule !== undefined) return ofSchedule;
  const { output, answers }: Partial<AnswerOptions> = on === 'webhook' ? options : {};
  const input = options.input ?? output ?? '$.body';
  const compiled = compiledTrigger(KINDS[on], workflow, { ...options, input } as TriggerOptions);
  // An answer is an output, which the callback's schema checks at run time.
  if (started === undefined || answers !== undefined) return undefined;
  const { schema, shape } = started;
  const fields = shape === undefined ? [] : mappingProblems(input, shape);
  const problems = fields.length > 0 ? fields : misfits(compiled.input as Expr, workflow, schema);
  return problems.length === 0 ? undefined : `trigger '${compiled.name}': ${problems.join('; ')}`;
}

function misfits(given: Expr, workflow: string, schema: unknown): string[] {
  const { validate } = Object(Object(schema)['~standard']) as { validate?: unknown };
  if (typeof validate !== 'function') return [];
  return misfitsOf({ given, to: `workflow '${workflow}'`, schema: schema as StandardSchemaV1 });
}
