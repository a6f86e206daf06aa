/**
 * Finds workflow folders: every `<folder>/<name>/workflow.ts`, one file `agents/<agent>.ts` per agent it uses, and what starts it, in
 * `triggers.ts`.
 *
 * Owns: the layout that authors follow, and every refusal about it. Does not own: whether a workflow is a good one
 * (building it refuses that), or what is made of the findings (`steadfast.ts`, `bundle.ts`).
 *
 * Workflow modules are loaded, because their agents' time limits become the functions' timeouts. Agent files are not:
 * they may open connections, and `cdk synth` has no business there. Those that call `remoteAgent` are: they have no code of their own,
 * and what they call decides about permissions and images.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BUILT_IN_PREFIX, isBuiltIn } from '../core/plan/built-in.ts';
import { nearest } from '../core/plan/nearest.ts';
import type { DeclaredTrigger } from '../core/plan/trigger-declaration.ts';
import { type InputShape, referenceProblems } from '../core/plan/reference-check.ts';
import { writtenFile } from '../project/project-files.ts';
import { agentFileProblem, type DeclaredSpec } from './agent-files.ts';
import { type Forms, formsOf } from './forms.ts';
import { jsonSchemaOf } from './json-schema.ts';

/** A layout that cannot be deployed; says which file or folder, and what is expected. */
export class DiscoveryError extends Error {
  override readonly name = 'DiscoveryError';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    // An app that does not catch it prints this: the sentence, and where the app asked.
    const frames = (this.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
    const own = frames.filter((line) => !/node:|node_modules/.test(line));
    this.stack = [`${this.name}: ${message}`, ...own].join('\n');
  }
}

export interface FoundAgent {
  readonly name: string;
  /** One attempt's longest time, as its author declared it. */
  readonly timeoutMs: number;
  /** Absent: in a function. */
  readonly runsIn?: 'container';
  /** What does its work, of an agent in another language (`remoteAgent`). */
  readonly remote?: 'lambda' | 'url' | 'command';
  /** The file that exports `handler`. */
  readonly file: string;
  /** All agents of the workflows it takes part in, itself included: those it may have to send to. */
  readonly peers: readonly string[];
}

export interface FoundWorkflow {
  readonly name: string;
  readonly file: string;
  /** The name under which `file` exports it. */
  readonly exportName: string;
  readonly agents: readonly string[];
  /** An approval of it, or of a workflow below it, must be another person's. */
  readonly asksAnother?: true;
  /** Absent: its schema does not say it. */
  readonly input?: InputShape;
  /** What a person can be asked to fill in. */
  readonly forms?: Forms;
}

/** What starts a workflow, as its author has written beside it. */
export interface FoundTrigger {
  /** From the project's folder. */
  readonly file: string;
  readonly exportName: string;
  readonly trigger: DeclaredTrigger;
}

export interface Discovery {
  /** The project's folder: relative paths start there, and generated modules are in its `cdk.out`. */
  readonly root: string;
  readonly workflows: readonly FoundWorkflow[];
  readonly agents: readonly FoundAgent[];
  /** In the order of their files. */
  readonly triggers: readonly FoundTrigger[];
  /** What is odd but does not prevent a deployment. */
  readonly warnings: readonly string[];
}

export interface DiscoverProps {
  /** The project's folder. */
  readonly root: string;
  /**
   * Folders whose subfolders are workflow folders, relative to `root` or absolute.
   */
  readonly folders: readonly string[];
  /**
   * Names of the workflow folders to take.
   * @default - all
   */
  readonly only?: readonly string[];
}

/** What is read of a plan. */
interface PlanLike {
  readonly steps: readonly { readonly kind: string; readonly by?: unknown; readonly plan?: PlanLike }[];
}

/** Whether an approval of it, or of a workflow below it, must be another person's. */
export const asksAnother = (plan: PlanLike): boolean =>
  plan.steps.some(
    ({ kind, by, plan: child }) =>
      (kind === 'approval' && by !== undefined) || (child !== undefined && asksAnother(child)),
  );

/** What is read of a workflow; structural, because the infrastructure does not know the core. */
interface WorkflowLike {
  readonly kind: 'steadfast:workflow';
  readonly name: string;
  readonly agents: readonly AgentLike[];
  readonly plan?: PlanLike;
  readonly input?: unknown;
  readonly callbacks?: Readonly<Record<string, unknown>>;
}

interface AgentLike {
  readonly spec: Pick<FoundAgent, 'name' | 'timeoutMs' | 'runsIn'> & DeclaredSpec;
}

const AGENT_FOLDER = 'agents';
/** Without its ending. */
const TRIGGERS = 'triggers';

const workflowFile = (folder: string): string | undefined => writtenFile(join(folder, 'workflow'));

/**
 * Looks for workflow folders and loads their workflows.
 * @throws DiscoveryError naming the workflow, the agent and the path expected
 */
export async function discoverWorkflows(props: DiscoverProps): Promise<Discovery> {
  const root = resolve(props.root);
  const relativeToRoot = (path: string): string => relative(root, path).split(sep).join('/');
  const workflows: FoundWorkflow[] = [];
  const agents: FoundAgent[] = [];
  const triggers: FoundTrigger[] = [];
  const warnings: string[] = [];
  for (const folder of chosenFolders(root, props)) {
    const loaded = await loadFolder(folder, relativeToRoot);
    workflows.push(...loaded.workflows);
    agents.push(...loaded.agents);
    triggers.push(...(await triggersIn(folder, relativeToRoot)));
    warnings.push(...loaded.warnings);
  }
  refuseBuiltIn('workflow', workflows, relativeToRoot);
  refuseBuiltIn('agent', agents, relativeToRoot);
  refuseTwins('workflow', workflows, relativeToRoot);
  refuseTwins('agent', agents, relativeToRoot);
  return { root, workflows, agents, triggers, warnings };
}

function chosenFolders(root: string, props: DiscoverProps): string[] {
  const parents = props.folders.map((folder) => resolve(root, folder));
  const found = parents.flatMap(foldersIn).filter((folder) => workflowFile(folder) !== undefined);
  if (found.length === 0) {
    throw new DiscoveryError(
      `no workflow folder found: looked for ${parents.map((parent) => join(parent, '*', 'workflow.ts')).join(', ')}`,
    );
  }
  const { only } = props;
  if (only === undefined) return found;
  const names = found.map((folder) => basename(folder));
  const strangers = only.filter((name) => !names.includes(name));
  if (strangers.length > 0 || only.length === 0) {
    throw new DiscoveryError(
      `no workflow folder is named ${strangers.map((name) => `'${name}'`).join(', ') || "''"}; there are ${names.join(', ')}`,
    );
  }
  return found.filter((folder) => only.includes(basename(folder)));
}

function foldersIn(parent: string): string[] {
  if (!existsSync(parent)) return [];
  const entries = readdirSync(parent, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(parent, entry.name))
    .sort();
}

interface LoadedFolder {
  readonly workflows: readonly FoundWorkflow[];
  readonly agents: readonly FoundAgent[];
  readonly warnings: readonly string[];
}

async function loadFolder(folder: string, relativeToRoot: (path: string) => string): Promise<LoadedFolder> {
  const file = workflowFile(folder) as string;
  const module = await load(file, relativeToRoot(file));
  const exported = workflowsOf(module, file, relativeToRoot(file));
  const used = new Map<string, AgentLike>();
  const peers = new Map<string, Set<string>>();
  for (const { workflow } of exported) {
    const names = workflow.agents.map(({ spec }) => spec.name);
    for (const agent of workflow.agents) {
      const { spec } = agent;
      if ((used.get(spec.name) ?? agent) !== agent) {
        throw new DiscoveryError(
          `${relativeToRoot(file)}: two agents are named '${spec.name}'; give one of them another name, or declare it once and use it in both workflows`,
        );
      }
      if (agentFile(folder, spec.name) === undefined) {
        const expected = join(folder, AGENT_FOLDER, `${spec.name}${extname(file)}`);
        const like = nearest(basename(expected), agentFilesIn(folder));
        const meant = like === undefined ? '' : `; ${like} is there: is that the one?`;
        throw new DiscoveryError(
          `workflow '${workflow.name}' uses the agent '${spec.name}', but ${relativeToRoot(expected)} does not exist; it must export its handler (export const handler = ….handler({ … }))${meant}`,
        );
      }
      used.set(spec.name, agent);
      peers.set(spec.name, new Set([...(peers.get(spec.name) ?? []), ...names]));
    }
  }
  const agents: FoundAgent[] = [];
  for (const { spec } of used.values()) {
    const { name, timeoutMs, runsIn } = spec;
    const implementation = agentFile(folder, name) as string;
    const shown = relativeToRoot(implementation);
    const remote = await remoteOf(implementation, shown, name);
    const of = { file: implementation, shown, spec, workflowFile: file, exported: module };
    const problem = agentFileProblem(of);
    if (problem !== undefined) throw new DiscoveryError(problem);
    agents.push({
      name,
      timeoutMs,
      ...(runsIn === undefined ? {} : { runsIn }),
      ...(remote === undefined ? {} : { remote }),
      file: implementation,
      peers: [...(peers.get(name) ?? [])].sort(),
    });
  }
  const workflows = exported.map(({ exportName, workflow }) => ({
    name: workflow.name,
    file,
    exportName,
    agents: workflow.agents.map(({ spec }) => spec.name),
    ...(workflow.plan !== undefined && asksAnother(workflow.plan) ? { asksAnother: true as const } : {}),
    ...inputOf(workflow.input),
    ...formsIn(workflow, folder),
  }));
  return { workflows, agents, warnings: unusedFiles(folder, used, relativeToRoot) };
}

const agentFile = (folder: string, name: string): string | undefined =>
  writtenFile(join(folder, AGENT_FOLDER, name));

async function load(file: string, shown: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new DiscoveryError(`${shown}${lineOf(error, file)} cannot be loaded: ${message}`, { cause: error });
  }
}

async function remoteOf(file: string, shown: string, name: string): Promise<FoundAgent['remote']> {
  if (!readFileSync(file, 'utf8').includes('remoteAgent')) return undefined;
  const { handler } = await load(file, shown);
  const { remote, worker } = Object(handler) as Pick<FoundAgent, 'remote'> & {
    worker?: { agent: AgentLike };
  };
  const own = worker?.agent.spec.name ?? name;
  if (own !== name)
    throw new DiscoveryError(
      `${shown} exports the handler of the agent '${own}'; it must be that of '${name}'`,
    );
  return remote;
}

function workflowsOf(
  module: Readonly<Record<string, unknown>>,
  file: string,
  shown: string,
): { exportName: string; workflow: WorkflowLike }[] {
  const found: { exportName: string; workflow: WorkflowLike }[] = [];
  for (const [exportName, value] of Object.entries(module)) {
    if (isTrigger(value))
      throw new DiscoveryError(
        `${shown} exports the trigger '${exportName}', which no function needs; move it to ${TRIGGERS}${extname(file)} beside it`,
      );
    // One object under two names (a named and a default export) is one workflow.
    if (isWorkflow(value) && !found.some(({ workflow }) => workflow === value)) {
      found.push({ exportName, workflow: value });
    }
  }
  const problems = found.flatMap(({ workflow }) => unreadable(workflow));
  if (problems.length > 0) throw new DiscoveryError(`${shown}: ${problems.join('\n')}`);
  if (found.length === 0) {
    throw new DiscoveryError(
      `${shown} exports no workflow; it must export at least one (export const … = workflow('…', …))`,
    );
  }
  return found;
}

/** What a folder's `triggers.ts` exports; none without one. What a trigger says is checked where it is made (`declared-triggers.ts`). */
async function triggersIn(folder: string, relativeToRoot: (path: string) => string): Promise<FoundTrigger[]> {
  const file = writtenFile(join(folder, TRIGGERS));
  if (file === undefined) return [];
  const shown = relativeToRoot(file);
  const found: FoundTrigger[] = [];
  for (const [exportName, trigger] of Object.entries(await load(file, shown))) {
    if (!isTrigger(trigger) || found.some((other) => other.trigger === trigger)) continue;
    found.push({ file: shown, exportName, trigger });
  }
  if (found.length > 0) return found;
  throw new DiscoveryError(
    `${shown} exports no trigger; it must export at least one (export const … = onSchedule(…, { … }))`,
  );
}

function inputOf(input: unknown): Pick<FoundWorkflow, 'input'> {
  const schema = jsonSchemaOf(input);
  if (schema === undefined) return {};
  const { required } = Object(jsonSchemaOf(input, 'input')) as { required?: unknown };
  return { input: { schema, required: Array.isArray(required) ? (required as string[]) : [] } };
}

/** Absent where nothing is known. */
function formsIn(workflow: WorkflowLike, folder: string): Pick<FoundWorkflow, 'forms'> {
  const forms = formsOf(workflow, folder);
  return Object.keys(forms).length === 0 ? {} : { forms };
}

/** The types see a wrong path as well, but nothing makes an author ask them before the start. */
const unreadable = (workflow: WorkflowLike): string[] =>
  'plan' in workflow ? referenceProblems(workflow as never, jsonSchemaOf) : [];

/** ':12', the line of the file in which it was thrown or which called what threw; '' where that is not to be seen. */
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

function agentFilesIn(folder: string): string[] {
  const agentFolder = join(folder, AGENT_FOLDER);
  if (!existsSync(agentFolder)) return [];
  return readdirSync(agentFolder)
    .filter((name) => /\.m?[jt]s$/.test(name) && !/\.(test|d)\.m?[jt]s$/.test(name))
    .sort();
}

const withoutEnding = (name: string): string => name.slice(0, -extname(name).length);

/** A warning, not a refusal: the agent may have been written before the step that will use it. */
function unusedFiles(
  folder: string,
  used: ReadonlyMap<string, unknown>,
  relativeToRoot: (path: string) => string,
): string[] {
  return agentFilesIn(folder)
    .filter((name) => !used.has(withoutEnding(name)))
    .map(
      (name) =>
        `${relativeToRoot(join(folder, AGENT_FOLDER, name))} is deployed nowhere: no workflow of its folder uses an agent '${withoutEnding(name)}'`,
    );
}

/** Names of what every deployment brings itself. */
function refuseBuiltIn(
  what: 'workflow' | 'agent',
  found: readonly { readonly name: string; readonly file: string }[],
  relativeToRoot: (path: string) => string,
): void {
  const one = found.find(({ name }) => isBuiltIn(name));
  if (one === undefined) return;
  throw new DiscoveryError(
    `${relativeToRoot(one.file)}: no ${what} may be named '${one.name}': '${BUILT_IN_PREFIX}…' is what a deployment brings itself; give it another name`,
  );
}

function refuseTwins(
  what: 'workflow' | 'agent',
  found: readonly { readonly name: string; readonly file: string }[],
  relativeToRoot: (path: string) => string,
): void {
  const first = new Map<string, string>();
  for (const { name, file } of found) {
    const other = first.get(name);
    if (other !== undefined) {
      const places =
        other === file ? relativeToRoot(file) : `${relativeToRoot(other)} and ${relativeToRoot(file)}`;
      throw new DiscoveryError(
        `two ${what}s are named '${name}': ${places}; a name must be unique in a deployment`,
      );
    }
    first.set(name, file);
  }
}
