/**
 * The forms that a person can fill in: for a workflow, the JSON Schema of its input, with an example; for
 * each step, the schemas of the values that a person can enter. They are made at synthesis.
 *
 * Owns: which schemas, their largest size, the place of an example. Does not own: the conversion to JSON
 * Schema (`json-schema.ts`), who serves them (`lib/api/deployment-routes.ts`).
 */

import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { jsonSchemaOf } from './json-schema.ts';

/** The forms in the API's answers: `WorkflowForms`. */
export interface Forms {
  readonly input?: unknown;
  readonly example?: unknown;
  readonly steps?: Readonly<Record<string, { readonly input?: unknown; readonly output?: unknown }>>;
}

/**
 * The parts of a workflow that are read. The type is structural, because the infrastructure does not import
 * the core.
 */
interface Asking {
  readonly name: string;
  readonly input?: unknown;
  readonly agents: readonly AgentSchemas[];
  readonly callbacks?: Readonly<Record<string, unknown>>;
  readonly messages?: Readonly<Record<string, unknown>>;
  readonly plan?: { readonly steps: readonly StepLike[]; readonly onFailure?: readonly StepLike[] };
}

interface AgentSchemas {
  readonly spec: { readonly name: string };
  readonly input?: unknown;
  readonly output?: unknown;
}

interface StepLike {
  readonly kind: string;
  readonly name?: string;
  readonly agent?: string;
  readonly message?: string;
}

/** The largest schema; a form for a larger one would be useless. */
const MAX_SCHEMA_BYTES = 32 * 1024;
/** The limit for all steps of a workflow together, because one answer contains them all. */
const MAX_STEPS_BYTES = 512 * 1024;
const EXAMPLE = 'example-input.json';

/** @param folder the workflow's folder; its example belongs to the workflow with the folder's name */
export function formsOf(workflow: Asking, folder: string): Forms {
  const steps = stepForms(workflow);
  return {
    ...named('input', schemaFor(workflow.input)),
    ...(basename(folder) === workflow.name ? named('example', exampleIn(folder)) : {}),
    ...(Object.keys(steps).length > 0 && bytesOf(steps) <= MAX_STEPS_BYTES ? { steps } : {}),
  };
}

function stepForms({ plan, agents, callbacks = {}, messages = {} }: Asking): NonNullable<Forms['steps']> {
  const all = [...(plan?.steps ?? []), ...(plan?.onFailure ?? [])];
  return Object.fromEntries(
    all.flatMap(({ kind, name = '', agent, message = '' }) => {
      const { input, output } =
        kind === 'callback' || kind === 'receive'
          ? { input: undefined, output: kind === 'callback' ? callbacks[name] : messages[message] }
          : (agents.find(({ spec }) => kind === 'agent' && spec.name === agent) ?? {});
      const form = { ...named('input', schemaFor(input)), ...named('output', schemaFor(output)) };
      return Object.keys(form).length === 0 ? [] : [[name, form] as const];
    }),
  );
}

/** Describes the input as it is sent, before a default or a transform changes it. */
function schemaFor(schema: unknown): unknown {
  const json = schema === undefined ? undefined : jsonSchemaOf(schema, 'input');
  return json !== undefined && bytesOf(json) <= MAX_SCHEMA_BYTES ? json : undefined;
}

/** The example; a file that is not JSON is ignored. */
function exampleIn(folder: string): unknown {
  const file = join(folder, EXAMPLE);
  if (!existsSync(file)) return undefined;
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return bytesOf(value) <= MAX_SCHEMA_BYTES ? value : undefined;
  } catch {
    return undefined;
  }
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

const named = <Name extends string>(name: Name, value: unknown): Partial<Record<Name, unknown>> =>
  value === undefined ? {} : ({ [name]: value } as Record<Name, unknown>);
