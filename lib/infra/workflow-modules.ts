/**
 * Loads the modules of a workflow folder, and reads their exports.
 *
 * Owns: the fields of a workflow, an agent and a trigger that are read, and the refusals of other exports.
 * Does not own: where the files are (`discover.ts`), the required exports of an agent's file (`handlers.ts`).
 *
 * Workflow modules are loaded here, because their agents' time limits become the functions' timeouts. Files
 * of agents are not loaded, because they may open connections, except those that call `remoteAgent`: they
 * have no code of their own, and their target decides about permissions and images.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';
import { leftReferences } from '../author/left-references.ts';
import { oddNames } from '../author/schemas/odd-names.ts';
import { referenceProblems } from '../author/schemas/reference-check.ts';
import type { DeclaredTrigger } from '../author/triggers/trigger-declaration.ts';
import type { DeclaredSpec } from './handlers.ts';
import { exportsOf } from '../project/package-files.ts';
import { DiscoveryError, type FoundAgent, type FoundLane, type FoundWarning } from './discovery.ts';
import { nearest } from '../core/values/nearest.ts';
import { jsonSchemaOf, noJsonIn, type Side } from './json-schema.ts';

/** The parts of a plan that are read. */
interface PlanLike {
  readonly workflow: string;
  readonly fairBy?: unknown;
  readonly steps: readonly StepLike[];
}
interface StepLike {
  readonly kind: string;
  readonly by?: unknown;
  readonly plan?: PlanLike;
  readonly each?: { readonly plan?: PlanLike };
  readonly lane?: string;
  readonly atMost?: number;
}

/** The lanes of the workflow and of its children. */
export const lanesOf = ({ workflow, steps }: PlanLike): readonly FoundLane[] =>
  steps.flatMap(({ kind, lane = '', atMost = 0, plan, each }) => [
    ...(kind === 'lane' ? [{ workflow, name: lane, atMost }] : []),
    ...[plan, each?.plan].flatMap((below) => (below === undefined ? [] : lanesOf(below))),
  ]);

/** True if the workflow, or a child of it, has an approval that another person must give. */
export const asksAnother = (plan: PlanLike): boolean =>
  plan.steps.some(
    ({ kind, by, plan: child }) =>
      (kind === 'approval' && by !== undefined) || (child !== undefined && asksAnother(child)),
  );

/**
 * The parts of a workflow that are read. The type is structural, because the infrastructure does not import
 * the core.
 */
export interface WorkflowLike {
  readonly kind: 'steadfast:workflow';
  readonly name: string;
  readonly agents: readonly AgentLike[];
  readonly plan?: PlanLike;
  readonly input?: unknown;
  readonly callbacks?: Readonly<Record<string, unknown>>;
  readonly messages?: Readonly<Record<string, unknown>>;
}

export interface AgentLike {
  readonly spec: Pick<FoundAgent, 'name' | 'timeoutMs' | 'runsIn' | 'isolate'> & DeclaredSpec;
  readonly input?: unknown;
  readonly output?: unknown;
  /** The handler, if the work is declared. */
  readonly handler?: unknown;
  readonly secret?: NonNullable<FoundAgent['declared']>['secret'];
}

/** The declared work of an agent; undefined for one that has a file. */
export const declaredWorkOf = ({ handler, secret }: AgentLike): FoundAgent['declared'] =>
  'worker' in Object(handler) ? (secret === undefined ? {} : { secret }) : undefined;

type Module = Readonly<Record<string, unknown>>;

/** The name, without its ending, of the file that exports the triggers. */
export const TRIGGERS = 'triggers';

/** @throws DiscoveryError with the line */
export async function loadModule(file: string, shown: string): Promise<Module> {
  try {
    return await exportsOf(file);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const missing = missingImport(message, file, shown);
    if (missing !== undefined) throw new DiscoveryError(missing, { cause: error });
    throw new DiscoveryError(`${shown}${lineOf(error, file)} cannot be loaded: ${message}`, { cause: error });
  }
}

/** The import that names no file, with its line and the file that was probably meant. */
function missingImport(message: string, file: string, shown: string): string | undefined {
  const [, wanted = '', importer = ''] =
    /^Cannot find module '([^']+)' imported from '?([^'\n]+?)'?$/m.exec(message) ?? [];
  if (!existsSync(importer)) return undefined;
  const nameOf = (path: string): string =>
    basename(path).slice(0, basename(path).length - extname(path).length);
  const lines = readFileSync(importer, 'utf8').split('\n');
  const isImport = new RegExp(
    `(?:from|import|require)[\\s(]*['"]([^'"]*\\b${nameOf(wanted)}(?:\\.\\w+)?)['"]`,
  );
  const at = lines.findIndex((line) => isImport.test(line));
  const [, specifier = wanted] = isImport.exec(lines[at] ?? '') ?? [];
  const folder = dirname(wanted);
  const like = nearest(nameOf(wanted), existsSync(folder) ? readdirSync(folder).map(nameOf) : []);
  const meant = like === undefined ? '' : `; did you mean '${specifier.replace(nameOf(wanted), like)}'?`;
  const place = importer === file ? shown : join(dirname(shown), relative(dirname(file), importer));
  return `${place}${at < 0 ? '' : `:${at + 1}`} cannot be loaded: it imports '${specifier}', which does not exist${meant}`;
}

/** How a remote agent is called, as its file says; undefined if the file has code. */
export async function remoteOf(file: string, shown: string, name: string): Promise<FoundAgent['remote']> {
  if (!readFileSync(file, 'utf8').includes('remoteAgent')) return undefined;
  const { handler } = await loadModule(file, shown);
  const { remote, worker } = Object(handler) as {
    remote?: FoundAgent['remote'];
    worker?: { agent: AgentLike };
  };
  const own = worker?.agent.spec.name ?? name;
  if (own !== name)
    throw new DiscoveryError(
      `${shown} exports the handler of the agent '${own}'; it must be that of '${name}'`,
    );
  return remote;
}

export function workflowsOf(
  module: Module,
  file: string,
  shown: string,
): { exportName: string; workflow: WorkflowLike }[] {
  const found: { exportName: string; workflow: WorkflowLike }[] = [];
  for (const [exportName, value] of Object.entries(module)) {
    if (isTrigger(value))
      throw new DiscoveryError(
        `${shown} exports the trigger '${exportName}', but a workflow file must not export triggers; move it to ${TRIGGERS}${extname(file)} beside it`,
      );
    // One object under two names (a named and a default export) is one workflow.
    if (isWorkflow(value) && !found.some(({ workflow }) => workflow === value)) {
      found.push({ exportName, workflow: value });
    }
  }
  const problems = new Set(found.flatMap(({ workflow }) => [...unfit(workflow), ...unreadable(workflow)]));
  if (problems.size > 0) {
    const lines = [...problems].map((one) => `${shown}${placeOf(one, file)}: ${one}`);
    throw new DiscoveryError(lines.join('\n'));
  }
  if (found.length === 0) {
    throw new DiscoveryError(
      `${shown} exports no workflow; it must export at least one (export const … = workflow('…', …))`,
    );
  }
  return found;
}

/** The triggers that a `triggers.ts` exports. `declared-triggers.ts` checks their content. */
export function triggersOf(
  module: Module,
  shown: string,
): { exportName: string; trigger: DeclaredTrigger }[] {
  const found: { exportName: string; trigger: DeclaredTrigger }[] = [];
  for (const [exportName, trigger] of Object.entries(module)) {
    if (!isTrigger(trigger) || found.some((other) => other.trigger === trigger)) continue;
    found.push({ exportName, trigger });
  }
  if (found.length > 0) return found;
  throw new DiscoveryError(
    `${shown} exports no trigger; it must export at least one (export const … = onSchedule(…, { … }))`,
  );
}

/** Finds wrong paths. The types report them as well, but an author may start without checking types. */
const unreadable = (workflow: WorkflowLike): string[] =>
  'plan' in workflow ? referenceProblems(workflow as never, jsonSchemaOf) : [];

/** Finds schemas that no JSON fits: everything that is passed, stored and answered is JSON. */
function unfit({ name, input, agents, callbacks = {}, messages = {} }: WorkflowLike): string[] {
  const found = (what: string, schema: unknown, ...sides: readonly Side[]): string[] => {
    const [first] = sides.flatMap((side) => noJsonIn(schema, side) ?? []);
    return first === undefined ? [] : [`workflow '${name}': ${what} can never be JSON: ${first}`];
  };
  return [
    ...found('its input', input, 'input', 'output'),
    ...agents.flatMap(({ spec, input: taken, output }) => [
      ...found(`the input of agent '${spec.name}'`, taken, 'input'),
      ...found(`the output of agent '${spec.name}'`, output, 'output'),
    ]),
    ...Object.entries(callbacks).flatMap(([step, output]) =>
      found(`the answer that step '${step}' waits for`, output, 'input', 'output'),
    ),
    ...Object.entries(messages).flatMap(([message, body]) =>
      found(`the body of message '${message}'`, body, 'input', 'output'),
    ),
  ];
}

const DECLARING = 'step|wait|callback|approval|receive|child|map|repeat|onFailure';

/** The line, such as ':12', at which the file declares the step or the workflow of a problem. */
function placeOf(problem: string, file: string): string {
  const [, workflow = '', step] = /workflow '([^']+)'(?:, step '([^']+)')?/.exec(problem) ?? [];
  const declared = new RegExp(
    step === undefined
      ? `\\bworkflow\\(\\s*['"]${workflow}['"]`
      : `\\.(?:${DECLARING})\\(\\s*['"]${step}['"]`,
  );
  const text = readFileSync(file, 'utf8');
  const at = text.search(declared);
  return at < 0 ? '' : `:${text.slice(0, at).split('\n').length}`;
}

/** Warnings about a workflow, and about the workflows that it runs. */
export function warningsOf(workflow: WorkflowLike, file: string, shown: string): FoundWarning[] {
  if (!('plan' in workflow)) return [];
  const names = oddNames(workflow as never, jsonSchemaOf).map(({ kind, workflow: of, name, message }) => ({
    id: `steadfast:${kind}[${of}/${name}]`,
    message: `${shown}${placeOf(message, file)}: ${message}`,
  }));
  const left = leftReferences(workflow as never).map(({ workflow: of, reference, message, stack }) => ({
    id: `steadfast:testedReference[${of}/${reference}]`,
    message: `${shown}${lineOf({ stack }, file)}: ${message}`,
  }));
  return [...left, ...names];
}

/**
 * The line, such as ':12', of the file in which the error was thrown, or that called what threw it; '' if the
 * stack does not show it.
 */
function lineOf(error: unknown, file: string): string {
  const stack = (Object(error) as { stack?: unknown }).stack;
  const frame = typeof stack === 'string' ? stack.split(`${file}:`)[1] : undefined;
  const line = /^\d+/.exec(frame ?? '')?.[0];
  return line === undefined ? '' : `:${line}`;
}

function isTrigger(value: unknown): value is DeclaredTrigger {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'steadfast:trigger';
}

function isWorkflow(value: unknown): value is WorkflowLike {
  return (
    typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'steadfast:workflow'
  );
}

/** Agents that a `workflow.ts` exports. Agents that no current workflow uses are for executions under way. */
export const agentsIn = (module: Module): readonly AgentLike[] =>
  Object.values(module).filter(
    (value): value is AgentLike =>
      typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'steadfast:agent',
  );
