/**
 * Finds the CDK app that `steadfast dev` runs, around the working directory, and the Steadfast in it.
 *
 * Owns: the search, and its refusals. Does not own: running the app (`synthesis.ts`).
 */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENV, LANES_KEY } from '../../lib/aws/names.ts';
import { projectRoot } from '../../lib/project/project-files.ts';
import { CliError, EXIT } from '../io.ts';

export interface Project {
  /** The folder of cdk.json; with `--app` and without a cdk.json, the working directory. */
  readonly root: string;
  /** The command that synthesises, for a shell. */
  readonly app: string;
  /** The context of cdk.json and of cdk.context.json (the CDK's cache of account data). */
  readonly context: Readonly<Record<string, unknown>>;
}

/**
 * @param app the command of `--app`, which replaces that in cdk.json
 * @throws CliError `no-project`, `bad-project`
 */
export function findProject(cwd: string, app?: string): Project {
  const root = projectRoot(cwd);
  if (root === undefined) {
    if (app !== undefined) return { root: cwd, app, context: {} };
    throw new CliError(
      'no-project',
      `there is no cdk.json in ${cwd} or above it. Run this in the folder of your CDK app, or name the command that runs the app: --app 'npx tsx bin/app.ts'`,
      EXIT.usage,
    );
  }
  const settings = readObject(join(root, 'cdk.json'));
  const own = app ?? settings['app'];
  if (typeof own !== 'string') {
    throw new CliError(
      'bad-project',
      `${join(root, 'cdk.json')} has no command that runs the app: add "app": "npx tsx bin/app.ts", or use --app`,
      EXIT.usage,
    );
  }
  const looked = join(root, 'cdk.context.json');
  const context = { ...Object(settings['context']), ...(existsSync(looked) ? readObject(looked) : {}) };
  return { root, app: own, context: context as Project['context'] };
}

/** One `Steadfast` construct in an app. */
export interface FoundSteadfast {
  /** The folder of its stack's assembly. The assembly of a CDK stage is inside the app's. */
  readonly assembly: string;
  readonly stack: string;
  /** The stack's path in the CDK: 'Prod/Orders' in a CDK stage, otherwise usually its name. */
  readonly stackPath: string;
  /** The path of its construct, such as 'Shop/Payments'. */
  readonly path: string;
  /** The logical id of its API. */
  readonly api: string;
  /** The file of its stack's template. */
  readonly template: string;
  /** The agents that it deploys. */
  readonly agents: readonly string[];
  /** Its lanes, each as 'workflow/lane'. */
  readonly lanes: readonly string[];
}

export interface Chosen extends FoundSteadfast {
  /** The other Steadfasts of its stack; they run too. */
  readonly beside: readonly FoundSteadfast[];
}

/** Chooses one of several Steadfasts of an app. */
export interface Choice {
  readonly stack?: string | undefined;
  /** The end of its construct's path, such as 'Payments'. */
  readonly name?: string | undefined;
}

/**
 * Chooses the Steadfast to run.
 * @throws CliError `no-steadfast`, `several-stacks` or `several-steadfasts`; its message names what exists
 */
export function steadfastIn(assembly: string, { stack, name }: Choice = {}): Chosen {
  const stacks = stacksIn(assembly);
  const all = stacks.flatMap(({ steadfasts }) => steadfasts);
  if (all.length === 0) throw noSteadfast(stacks.map((each) => each.stack));
  const inStack = stack === undefined ? all : all.filter((each) => each.stack === stack);
  if (inStack.length === 0) throw severalStacks(`no stack '${stack}' holds a Steadfast`, all);
  const named = name === undefined ? inStack : inStack.filter(({ path }) => `/${path}`.endsWith(`/${name}`));
  if (named.length === 0) throw severalSteadfasts(`no Steadfast is named '${name}'`, inStack);
  const [chosen] = named;
  if (chosen === undefined || new Set(named.map((each) => each.stack)).size > 1)
    throw severalStacks('several stacks hold a Steadfast', named);
  if (named.length > 1) throw severalSteadfasts(`stack '${chosen.stack}' holds several Steadfasts`, named);
  const beside = all.filter((each) => each.stack === chosen.stack && each !== chosen);
  return { ...chosen, beside };
}

function noSteadfast(stacks: readonly string[]): CliError {
  const what =
    stacks.length === 0
      ? 'the app has no stack'
      : `no stack of the app holds a Steadfast: ${stacks.join(', ')}`;
  return new CliError(
    'no-steadfast',
    `${what}. Add one: new Steadfast(this, 'Orders', { workflows: Workflows.fromFolder('workflows') }) from 'steadfast/cdk'`,
  );
}

function severalStacks(problem: string, of: readonly FoundSteadfast[]): CliError {
  const names = [...new Set(of.map(({ stack }) => stack))].join(', ');
  return new CliError('several-stacks', `${problem}; choose with --stack one of: ${names}`, EXIT.usage);
}

function severalSteadfasts(problem: string, of: readonly FoundSteadfast[]): CliError {
  const names = of.map(({ path }) => path).join(', ');
  return new CliError('several-steadfasts', `${problem}; choose with --name one of: ${names}`, EXIT.usage);
}

interface Stack {
  readonly stack: string;
  readonly steadfasts: readonly FoundSteadfast[];
}

/** The artifacts of an assembly, including those of its CDK stages. */
export function artifactsIn(assembly: string): Artifact[] {
  const manifest = join(assembly, 'manifest.json');
  if (!existsSync(manifest)) return [];
  const artifacts = Object(readObject(manifest)['artifacts']) as Record<string, Omit<Artifact, 'id'>>;
  return Object.entries(artifacts).flatMap(([id, artifact]) =>
    artifact.type === 'cdk:cloud-assembly'
      ? artifactsIn(join(assembly, String(artifact.properties?.['directoryName'])))
      : [{ ...artifact, id, assembly }],
  );
}

function stacksIn(root: string): Stack[] {
  return artifactsIn(root).flatMap(({ id, assembly, type, displayName: stackPath = id, properties = {} }) => {
    if (type !== 'aws:cloudformation:stack') return [];
    const template = join(assembly, String(properties['templateFile']));
    const { Resources } = readObject(template);
    const stack = String(properties['stackName'] ?? id);
    const found = steadfastsOf(Object(Resources) as Record<string, Resource>);
    return [{ stack, steadfasts: found.map((each) => ({ assembly, stack, stackPath, template, ...each })) }];
  });
}

/** Finds each Steadfast by its only API and the function behind it. */
function steadfastsOf(
  resources: Readonly<Record<string, Resource>>,
): Pick<FoundSteadfast, 'path' | 'api' | 'agents' | 'lanes'>[] {
  const all = Object.entries(resources).map(([id, resource]) => ({ id, ...resource }));
  const pathOf = ({ Metadata }: Resource): string => Metadata?.['aws:cdk:path'] ?? '';
  return all
    .filter((resource) => JSON.stringify(resource.Properties ?? {}).includes(MARK))
    .flatMap((resource) => {
      const path = pathOf(resource);
      if (!path.endsWith(SCHEDULER)) return [];
      const own = path.slice(0, -SCHEDULER.length);
      const api = all.find((each) => pathOf(each) === `${own}${API}`);
      if (api === undefined) return [];
      const lanes = resource.Metadata?.[LANES_KEY]?.split(',') ?? [];
      return [{ path: own, api: api.id, agents: agentsOf(resource), lanes }];
    });
}

function agentsOf({ Properties }: Resource): string[] {
  const { Variables } = Object(Properties?.['Environment']) as { Variables?: Record<string, unknown> };
  return String(Variables?.[ENV.agents] ?? '').split(',');
}

interface Artifact {
  readonly id: string;
  /** The folder of its assembly. */
  readonly assembly: string;
  readonly type?: string;
  readonly displayName?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly metadata?: object;
  readonly additionalMetadataFile?: string;
}

interface Resource {
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: Readonly<Record<string, string>>;
}

/** A variable in the environment of every function of a Steadfast. */
const MARK = '"STEADFAST_TABLE"';
const SCHEDULER = '/Scheduler/Function/Resource';
const API = '/Scheduler/Api/Resource';

export function readObject(file: string): Readonly<Record<string, unknown>> {
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
