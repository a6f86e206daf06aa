/**
 * The CDK app that `steadfast dev` runs: the project around the working directory, and which of its stacks holds a Steadfast.
 *
 * Owns: where the app is looked for, and each refusal about that. Does not own: running it (`synthesis.ts`).
 */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../project/project-files.ts';
import { CliError, EXIT } from '../io.ts';

export interface Project {
  /** The folder of cdk.json, or the working directory where `--app` is given and there is none. */
  readonly root: string;
  /** The command that synthesises, for a shell. */
  readonly app: string;
  /** That of cdk.json, and of cdk.context.json, which holds what was looked up in an account. */
  readonly context: Readonly<Record<string, unknown>>;
}

/**
 * @param app the command of `--app`, instead of that of cdk.json
 * @throws CliError `no-project`, `bad-project`
 */
export function findProject(cwd: string, app?: string): Project {
  const root = projectRoot(cwd);
  if (root === undefined) {
    if (app !== undefined) return { root: cwd, app, context: {} };
    throw new CliError(
      'no-project',
      `there is no cdk.json in ${cwd} or above it. Run this in the folder of your CDK app, or say how it is run: --app 'npx tsx bin/app.ts'`,
      EXIT.usage,
    );
  }
  const settings = readObject(join(root, 'cdk.json'));
  const own = app ?? settings['app'];
  if (typeof own !== 'string') {
    throw new CliError(
      'bad-project',
      `${join(root, 'cdk.json')} does not say how the app is run: give it "app": "npx tsx bin/app.ts", or use --app`,
      EXIT.usage,
    );
  }
  const looked = join(root, 'cdk.context.json');
  const context = { ...Object(settings['context']), ...(existsSync(looked) ? readObject(looked) : {}) };
  return { root, app: own, context: context as Project['context'] };
}

/** A stack of an assembly, in the folder of its own assembly: that of a CDK stage lies in the app's. */
export interface FoundStack {
  readonly assembly: string;
  readonly stack: string;
}

/**
 * The stack that holds a Steadfast.
 * @param wanted its name, where there are several
 * @throws CliError `no-steadfast`, `several-stacks`, naming those there are
 */
export function stackIn(assembly: string, wanted?: string): FoundStack {
  const all = stacksIn(assembly);
  const fitting = all.filter(({ holdsSteadfast }) => holdsSteadfast);
  const chosen = wanted === undefined ? fitting : fitting.filter(({ stack }) => stack === wanted);
  const [found] = chosen;
  if (found !== undefined && chosen.length === 1) return { assembly: found.assembly, stack: found.stack };
  const names = (of: typeof all): string => of.map(({ stack }) => stack).join(', ');
  if (fitting.length === 0) {
    const what =
      all.length === 0 ? 'the app has no stack' : `no stack of the app holds a Steadfast: ${names(all)}`;
    throw new CliError(
      'no-steadfast',
      `${what}. Add one: new Steadfast(this, 'Orders', { workflows: Workflows.fromFolder('workflows') }) from 'steadfast/cdk'`,
    );
  }
  const problem = wanted === undefined ? 'several stacks hold a Steadfast' : `no stack '${wanted}' holds one`;
  throw new CliError(
    'several-stacks',
    `${problem}; choose with --stack one of: ${names(fitting)}`,
    EXIT.usage,
  );
}

function stacksIn(assembly: string): (FoundStack & { readonly holdsSteadfast: boolean })[] {
  const manifest = join(assembly, 'manifest.json');
  if (!existsSync(manifest)) return [];
  const artifacts = Object.entries(Object(readObject(manifest)['artifacts']) as Record<string, Artifact>);
  return artifacts.flatMap(([id, { type, properties = {} }]) => {
    if (type === 'cdk:cloud-assembly') return stacksIn(join(assembly, String(properties['directoryName'])));
    if (type !== 'aws:cloudformation:stack') return [];
    const template = readObject(join(assembly, String(properties['templateFile'])));
    const stack = String(properties['stackName'] ?? id);
    return [{ assembly, stack, holdsSteadfast: JSON.stringify(template).includes(MARK) }];
  });
}

interface Artifact {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** Every function of a Steadfast has it in its environment. */
const MARK = '"STEADFAST_TABLE"';

function readObject(file: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(readFileSync(file, 'utf8'))) as Record<string, unknown>;
  } catch (error) {
    throw new CliError(
      'bad-project',
      `${file} is not readable JSON: ${(error as Error).message}`,
      EXIT.usage,
    );
  }
}
