/**
 * Loads a project's workflow folders into this process: workflows, agents with their code, triggers.
 *
 * Owns: assigning handlers to agents. Does not own: finding workflows and refusing bad ones
 * (`lib/infra/discover.ts`, which does not load the CDK).
 */

import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { AgentHandler } from '../lib/agent/handler.ts';
import type { Worker } from '../lib/agent/author-code.ts';
import type { AllForms } from '../lib/api/deployment-answers.ts';
import type { Workflow } from '../lib/core/plan/workflow.ts';
import { isSteadfastError } from '../lib/core/values/errors.ts';
import type { DeclaredTrigger } from '../lib/author/triggers/trigger-declaration.ts';
import { discoverWorkflows } from '../lib/infra/discover.ts';
import { type Discovery, DiscoveryError } from '../lib/infra/discovery.ts';
import type { AskHandlers } from '../lib/infra/handlers.ts';
import { exportsOf, handlerOf } from '../lib/project/package-files.ts';
import { writtenFile } from '../lib/project/project-files.ts';

export interface ServedAgent {
  readonly worker: Worker;
  /** Absent for an agent that has no file and so can run only in this process. */
  readonly file?: string;
  /**
   * Whether each attempt has a process of its own: the agent asks for it (`isolate`, or `runsIn:
   * 'container'`) and is not a remote agent.
   */
  readonly isIsolated: boolean;
}

export interface Served {
  readonly workflows: readonly Workflow[];
  readonly agents: ReadonlyMap<string, ServedAgent>;
  readonly triggers: readonly DeclaredTrigger[];
  readonly forms: AllForms;
  readonly warnings: readonly string[];
}

/** Checks handlers in this process, because it loads the modules anyway. */
const ask: AskHandlers = (files) =>
  Promise.all(
    files.map(async (file) => {
      try {
        const { worker } = Object((await exportsOf(file))['handler']) as Partial<AgentHandler>;
        const parts = Object.keys(worker?.implementation ?? {});
        return { file, parts, ...(worker === undefined ? {} : { agent: worker.agent.spec.name }) };
      } catch (error) {
        if (isSteadfastError(error) && error.code === 'bad-agent') return { file, refused: error.message };
        return { file, failed: error instanceof Error ? error.message : String(error) };
      }
    }),
  );

/**
 * @param root the project's folder
 * @param folders folders that contain workflow folders
 * @throws DiscoveryError with the fault and the file
 */
export async function loadWorkflows(
  root: string,
  folders: readonly string[],
  only?: readonly string[],
): Promise<Served> {
  const props = { root, folders, ...(only === undefined ? {} : { only }) };
  const found = await discoverWorkflows(props, ask);
  const workflows = await Promise.all(
    found.workflows.map(async ({ file, exportName }) => (await exportsOf(file))[exportName] as Workflow),
  );
  const agents = await Promise.all(found.agents.map((agent) => loadAgent(found, agent)));
  return {
    workflows,
    agents: new Map(agents),
    triggers: found.triggers.map(({ trigger }) => trigger),
    forms: Object.fromEntries(found.workflows.map(({ name, forms }) => [name, forms ?? {}])) as AllForms,
    warnings: found.warnings.map(({ message }) => message),
  };
}

async function loadAgent(
  { root }: Discovery,
  { name, file, runsIn, remote }: Discovery['agents'][number],
): Promise<[string, ServedAgent]> {
  const shown = file.slice(root.length + 1);
  const { worker } = Object(await loaded(file, shown, name)) as Partial<AgentHandler>;
  const owner = worker?.agent.spec.name;
  if (worker === undefined || owner !== name)
    throw new DiscoveryError(
      owner === undefined
        ? `${shown} does not export 'handler'; write: export const handler = ….handler({ … })`
        : `${shown} exports the handler of the agent '${owner}'; ${basename(file)} must export that of '${name}'`,
    );
  const asks = runsIn === 'container' || worker.agent.spec.isolate === true;
  return [name, { worker, file, isIsolated: asks && remote === undefined }];
}

async function loaded(file: string, shown: string, name: string): Promise<unknown> {
  try {
    return await handlerOf(file, name);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new DiscoveryError(`${shown} cannot be loaded: ${message}`, { cause: error });
  }
}

/** Where a project may have its workflow folders. */
const PARENTS = ['.', 'workflows', 'examples'];

/** The workflow folders for a path: the path itself, or those in it. @throws DiscoveryError */
export function foldersOf(folder: string): {
  readonly root: string;
  readonly folders: readonly string[];
  readonly only?: readonly string[];
} {
  if (hasWorkflow(folder)) return { root: dirname(folder), folders: ['.'], only: [basename(folder)] };
  const folders = PARENTS.filter((parent) => holdsWorkflows(join(folder, parent)));
  if (folders.length > 0) return { root: folder, folders };
  throw new DiscoveryError(
    `there is no workflow in ${folder}: looked for workflow.ts in it, in its folders, in workflows/* and examples/*`,
  );
}

const hasWorkflow = (folder: string): boolean => writtenFile(join(folder, 'workflow')) !== undefined;

const holdsWorkflows = (folder: string): boolean =>
  existsSync(folder) &&
  readdirSync(folder, { withFileTypes: true }).some(
    (entry) => entry.isDirectory() && hasWorkflow(join(folder, entry.name)),
  );
