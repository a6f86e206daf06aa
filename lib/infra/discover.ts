/**
 * Finds workflow folders: every `<folder>/<name>/workflow.ts`, one file `agents/<agent>.ts` for each agent
 * that it uses, and its triggers in `triggers.ts`.
 *
 * Owns: the layout for authors, and the refusals about it. Does not own: the shape of the result
 * (`discovery.ts`), the exports of modules (`workflow-modules.ts`), whether a workflow is valid (building it
 * refuses that), the use of the result (`steadfast.ts`, `bundle.ts`).
 */

import { existsSync, readdirSync } from 'node:fs';
import { basename, extname, join, relative, resolve, sep } from 'node:path';
import { defined } from '../core/values/defined.ts';
import { shapeOf } from '../author/schemas/json-schema-check.ts';
import { BUILT_IN_PREFIX, isBuiltIn } from '../core/plan/built-in.ts';
import { nearest } from '../core/values/nearest.ts';
import { writtenFile } from '../project/project-files.ts';
import {
  checkLanes,
  type DiscoverProps,
  type Discovery,
  DiscoveryError,
  type FoundAgent,
  type FoundTrigger,
  type FoundWarning,
  type FoundWorkflow,
} from './discovery.ts';
import { formsOf } from './forms.ts';
import { type AgentFile, type AskHandlers, handlerProblem, handlersIn } from './handlers.ts';
import { jsonSchemaOf } from './json-schema.ts';
import { refuseTriggers } from './trigger-check.ts';
import {
  type AgentLike,
  agentsIn,
  asksAnother,
  declaredWorkOf,
  lanesOf,
  loadModule,
  remoteOf,
  TRIGGERS,
  triggersOf,
  type WorkflowLike,
  warningsOf,
  workflowsOf,
} from './workflow-modules.ts';

const AGENT_FOLDER = 'agents';

const workflowFile = (folder: string): string | undefined => writtenFile(join(folder, 'workflow'));

/**
 * Finds workflow folders and loads their workflows.
 * @param ask asks what agents' files export
 * @throws DiscoveryError that names the workflow, the agent and the expected path
 */
export async function discoverWorkflows(
  props: DiscoverProps,
  ask: AskHandlers = handlersIn,
): Promise<Discovery> {
  const root = resolve(props.root);
  const relativeToRoot = (path: string): string => relative(root, path).split(sep).join('/');
  const workflows: FoundWorkflow[] = [];
  const agents: FoundAgent[] = [];
  const triggers: FoundTrigger[] = [];
  const warnings: FoundWarning[] = [];
  const files: AgentFile[] = [];
  const schemas = new Map<string, unknown>();
  for (const folder of chosenFolders(root, props)) {
    const loaded = await loadFolder(folder, relativeToRoot);
    workflows.push(...loaded.workflows);
    agents.push(...loaded.agents);
    triggers.push(...(await triggersIn(folder, relativeToRoot)));
    warnings.push(...loaded.warnings);
    files.push(...loaded.files);
    for (const [name, schema] of loaded.schemas) schemas.set(name, schema);
  }
  refuseBuiltIn('workflow', workflows, relativeToRoot);
  refuseBuiltIn('agent', agents, relativeToRoot);
  refuseTwins('workflow', workflows, relativeToRoot);
  refuseTwins('agent', agents, relativeToRoot);
  checkLanes(workflows);
  refuseTriggers(triggers, workflows, schemas);
  warnings.push(...(await unseenHandlers(files, root, ask)));
  // A workflow that is exported, and is also a child of another exported one, is visited twice.
  const once = [...new Map(warnings.map((warning) => [warning.id, warning])).values()];
  return { root, workflows, agents, triggers, warnings: once };
}

/**
 * The files of the chosen folders that may be loaded by path; this function loads none.
 * @throws DiscoveryError if no folder is chosen
 */
export function authoredFiles(props: DiscoverProps): string[] {
  return chosenFolders(resolve(props.root), props).flatMap((folder) => {
    const agents = agentFilesIn(folder).map((name) => join(AGENT_FOLDER, withoutEnding(name)));
    const files = ['workflow', TRIGGERS, ...agents].map((name) => writtenFile(join(folder, name)));
    return [...new Set(files.filter((file) => file !== undefined))];
  });
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
  readonly warnings: readonly FoundWarning[];
  /** Agents' files that contain code. */
  readonly files: readonly AgentFile[];
  /** The schema of each workflow's input. */
  readonly schemas: ReadonlyMap<string, unknown>;
}

/** A workflow folder, and its module. */
interface FolderFiles {
  readonly folder: string;
  readonly module: Awaited<ReturnType<typeof loadModule>>;
  readonly relativeToRoot: (path: string) => string;
}

async function loadFolder(folder: string, relativeToRoot: (path: string) => string): Promise<LoadedFolder> {
  const file = workflowFile(folder) as string;
  const module = await loadModule(file, relativeToRoot(file));
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
      if (declaredWorkOf(agent) === undefined && agentFile(folder, spec.name) === undefined) {
        const expected = join(folder, AGENT_FOLDER, `${spec.name}${extname(file)}`);
        const like = misnamedFile(spec.name, folder, exported);
        const meant = like === undefined ? '' : `; did you mean ${like}?`;
        throw new DiscoveryError(
          `workflow '${workflow.name}' uses the agent '${spec.name}', but ${relativeToRoot(expected)} does not exist; it must export its handler (export const handler = ….handler({ … }))${meant}`,
        );
      }
      used.set(spec.name, agent);
      peers.set(spec.name, new Set([...(peers.get(spec.name) ?? []), ...names]));
    }
  }
  for (const agent of agentsIn(module)) {
    const { name } = agent.spec;
    const isThere = declaredWorkOf(agent) !== undefined || agentFile(folder, name) !== undefined;
    if (!used.has(name) && isThere) used.set(name, agent);
  }
  const of = { folder, module, relativeToRoot };
  const { agents, files } = await foundAgents([...used.values()], peers, of, file);
  const workflows = exported.map((one) => foundWorkflow(one, file, folder));
  const warnings = [
    ...exported.flatMap(({ workflow }) => warningsOf(workflow, file, relativeToRoot(file))),
    ...unusedFiles(folder, used, relativeToRoot),
  ];
  const schemas = new Map(exported.map(({ workflow }) => [workflow.name, workflow.input]));
  return { workflows, agents, warnings, files, schemas };
}

/** The agents of a folder, each with its file. @throws DiscoveryError */
async function foundAgents(
  used: readonly AgentLike[],
  peers: ReadonlyMap<string, ReadonlySet<string>>,
  { folder, module, relativeToRoot }: FolderFiles,
  workflow: string,
): Promise<Pick<LoadedFolder, 'agents' | 'files'>> {
  const agents: FoundAgent[] = [];
  const files: AgentFile[] = [];
  for (const agent of used) {
    const { spec } = agent;
    const { name, timeoutMs, runsIn, isolate, effect } = spec;
    const declared = declaredWorkOf(agent);
    const own = agentFile(folder, name);
    if (declared !== undefined && own !== undefined)
      throw new DiscoveryError(
        `${relativeToRoot(own)} does nothing: the work of agent '${name}' is declared by httpAgent; remove the file, or declare the agent by agent(…)`,
      );
    const implementation = own ?? workflow;
    const shown = relativeToRoot(implementation);
    const remote = declared === undefined ? await remoteOf(implementation, shown, name) : undefined;
    // A remote handler has been loaded, and has no parts of its own; declared work was checked at its
    // declaration.
    if (remote === undefined && declared === undefined)
      files.push({ file: implementation, shown, spec, exported: module });
    agents.push({
      name,
      timeoutMs,
      ...(isolate === undefined || remote !== undefined ? {} : { isolate }),
      ...(effect === 'unsafe' ? { isUnsafe: true } : {}),
      ...defined({ runsIn, remote, declared }),
      file: implementation,
      peers: [...(peers.get(name) ?? [])].sort(),
    });
  }
  return { agents, files };
}

const foundWorkflow = (
  { exportName, workflow }: ReturnType<typeof workflowsOf>[number],
  file: string,
  folder: string,
): FoundWorkflow => ({
  name: workflow.name,
  file,
  exportName,
  agents: workflow.agents.map(({ spec }) => spec.name),
  ...(workflow.plan !== undefined && asksAnother(workflow.plan) ? { asksAnother: true as const } : {}),
  ...(workflow.plan?.fairBy === undefined ? {} : { isFair: true as const }),
  ...(workflow.messages === undefined ? {} : { messages: Object.keys(workflow.messages) }),
  ...lanesIn(workflow),
  ...inputOf(workflow.input),
  ...formsIn(workflow, folder),
});

const lanesIn = ({ plan }: WorkflowLike): Pick<FoundWorkflow, 'lanes'> => {
  const lanes = plan === undefined ? [] : lanesOf(plan);
  return lanes.length === 0 ? {} : { lanes };
};

/** @throws DiscoveryError for parts that modules lack; a module that cannot be loaded here is a warning */
async function unseenHandlers(
  files: readonly AgentFile[],
  root: string,
  ask: AskHandlers,
): Promise<FoundWarning[]> {
  if (files.length === 0) return [];
  const answers = await ask(
    files.map(({ file }) => file),
    root,
  );
  return files.flatMap((given, at): FoundWarning[] => {
    const answer = answers[at];
    if (answer === undefined || 'failed' in answer) {
      const message = `${given.shown} could not be loaded to check the parts of its handler: ${answer?.failed ?? 'no answer'}. A part that agent '${given.spec.name}' needs would be missed only when it runs: read settings and open connections in execute, not when the file is loaded`;
      return [{ id: `steadfast:unseenHandler[${given.shown}]`, message }];
    }
    if ('refused' in answer) throw new DiscoveryError(`${given.shown}: ${answer.refused}`);
    const problem = handlerProblem(given, answer.agent, answer.parts);
    if (problem !== undefined) throw new DiscoveryError(problem);
    return [];
  });
}

const agentFile = (folder: string, name: string): string | undefined =>
  writtenFile(join(folder, AGENT_FOLDER, name));

/** The triggers; none if there is no `triggers.ts`. */
async function triggersIn(folder: string, relativeToRoot: (path: string) => string): Promise<FoundTrigger[]> {
  const file = writtenFile(join(folder, TRIGGERS));
  if (file === undefined) return [];
  const shown = relativeToRoot(file);
  return triggersOf(await loadModule(file, shown), shown).map((one) => ({ file: shown, ...one }));
}

function inputOf(input: unknown): Pick<FoundWorkflow, 'input'> {
  const shape = shapeOf(input, jsonSchemaOf);
  return shape === undefined ? {} : { input: shape };
}

/** The forms; absent if nothing is known. */
function formsIn(workflow: WorkflowLike, folder: string): Pick<FoundWorkflow, 'forms'> {
  const forms = formsOf(workflow, folder);
  return Object.keys(forms).length === 0 ? {} : { forms };
}

/**
 * The file that probably belongs to the agent: one with a similar name, or the only one that no other agent
 * has.
 */
function misnamedFile(
  expected: string,
  folder: string,
  exported: readonly { readonly workflow: WorkflowLike }[],
): string | undefined {
  const agents = new Set(exported.flatMap(({ workflow }) => workflow.agents.map(({ spec }) => spec.name)));
  const free = agentFilesIn(folder).filter((name) => !agents.has(withoutEnding(name)));
  const missing = [...agents].filter((name) => agentFile(folder, name) === undefined);
  const like = nearest(expected, free.map(withoutEnding));
  const alone = missing.length === 1 && free.length === 1 ? free[0] : undefined;
  return free.find((name) => withoutEnding(name) === like) ?? alone;
}

function agentFilesIn(folder: string): string[] {
  const agentFolder = join(folder, AGENT_FOLDER);
  if (!existsSync(agentFolder)) return [];
  return readdirSync(agentFolder)
    .filter((name) => /\.m?[jt]s$/.test(name) && !/\.(test|d)\.m?[jt]s$/.test(name))
    .sort();
}

const withoutEnding = (name: string): string => name.slice(0, -extname(name).length);

/**
 * Warns of unused files. They are not refused, because an agent may be written before the step that uses it.
 */
function unusedFiles(
  folder: string,
  used: ReadonlyMap<string, unknown>,
  relativeToRoot: (path: string) => string,
): FoundWarning[] {
  return agentFilesIn(folder)
    .filter((name) => !used.has(withoutEnding(name)))
    .map((name) => {
      const shown = relativeToRoot(join(folder, AGENT_FOLDER, name));
      const message = `${shown} is not deployed: no workflow in its folder uses an agent '${withoutEnding(name)}'`;
      return { id: `steadfast:unusedAgent[${shown}]`, message };
    });
}

/** Refuses names of workflows and agents that every deployment contains. */
function refuseBuiltIn(
  what: 'workflow' | 'agent',
  found: readonly { readonly name: string; readonly file: string }[],
  relativeToRoot: (path: string) => string,
): void {
  const one = found.find(({ name }) => isBuiltIn(name));
  if (one === undefined) return;
  throw new DiscoveryError(
    `${relativeToRoot(one.file)}: no ${what} may be named '${one.name}': names that begin with '${BUILT_IN_PREFIX}' are reserved; choose another name`,
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
