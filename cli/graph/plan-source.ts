/**
 * Finds the plan to draw: from the API, or, for a workflow that is not deployed, from the project around the
 * working directory.
 *
 * Does not own: the calls (`api/client.ts`), finding workflow folders (`../dev/workflow-folders.ts`).
 */

import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ApiError, type Client } from '../../lib/api/client.ts';
import { loadTypescript } from '../../lib/project/package-files.ts';
import { projectRoot, writtenFile } from '../../lib/project/project-files.ts';
import { findProject } from '../dev/project.ts';
import { projectFolders } from '../dev/workflow-folders.ts';
import { CliError, EXIT, messageOf } from '../io.ts';
import { type Graph, graphOfExecution, graphOfWorkflow } from '../../lib/view/graph.ts';

export interface Source {
  readonly graph: Graph;
  /** The workflow's file, if it is not deployed. */
  readonly file?: string;
}

/**
 * @param wanted the name of a workflow, or the id of an execution
 * @param cwd where the search for the project begins
 * @throws CliError `unknown-plan`; ApiError
 */
export async function planSource(api: Client, wanted: string, cwd: string): Promise<Source> {
  const deployed = await api.workflows().catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'no-answer') return error;
    throw error;
  });
  if (!(deployed instanceof Error)) {
    const workflow = deployed.find((one) => one.workflow === wanted);
    if (workflow !== undefined) return { graph: graphOfWorkflow(workflow) };
    const execution = await api.get(wanted).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'unknown-execution') return undefined;
      throw error;
    });
    if (execution !== undefined) return { graph: graphOfExecution(execution, deployed) };
  }
  const found = await inProject(wanted, cwd);
  if (found !== undefined) return found;
  if (deployed instanceof Error) throw deployed;
  const names = deployed.map(({ workflow }) => workflow).join(', ') || 'none';
  throw new CliError(
    'unknown-plan',
    `'${wanted}' is neither an execution or workflow of ${api.url} nor a workflow of this project. Workflows of the API: ${names}`,
    EXIT.failed,
  );
}

/** The parts of a workflow that are read here; the project may have another version of the library. */
interface WorkflowLike {
  readonly kind: 'steadfast:workflow';
  readonly name: string;
  readonly plan: Parameters<typeof import('../../lib/api/workflow-view.ts').workflowSteps>[0];
}

async function inProject(wanted: string, cwd: string): Promise<Source | undefined> {
  if (projectRoot(cwd) === undefined) return undefined;
  const folders = projectFolders(findProject(cwd));
  // Tries the folder with the workflow's name first, so usually no other folder is loaded.
  const ordered = [...folders].sort((a, b) => Number(b.name === wanted) - Number(a.name === wanted));
  const problems: string[] = [];
  for (const { path } of ordered) {
    const file = writtenFile(join(path, 'workflow')) ?? path;
    const loaded = await load(file).catch((error: unknown) => messageOf(error));
    if (typeof loaded === 'string') problems.push(`${relative(cwd, file)} cannot be loaded: ${loaded}`);
    else {
      const workflow = loaded.find(({ name }) => name === wanted);
      if (workflow === undefined) continue;
      const { workflowSteps } = await import('../../lib/api/workflow-view.ts');
      const graph = graphOfWorkflow({ workflow: workflow.name, steps: workflowSteps(workflow.plan) });
      return { graph, file: relative(cwd, file) };
    }
  }
  if (problems.length > 0) throw new CliError('bad-workflow', problems.join('\n'), EXIT.failed);
  return undefined;
}

async function load(file: string): Promise<WorkflowLike[]> {
  await loadTypescript();
  const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  return Object.values(module).filter(
    (value): value is WorkflowLike => (Object(value) as WorkflowLike).kind === 'steadfast:workflow',
  );
}
