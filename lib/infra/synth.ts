/**
 * From a project's folder to a cloud assembly, with the CDK CLI (`bin/app.ts`) or without (`synthesize`).
 *
 * Owns: the context keys, the stack's name. Does not own: which stages there are and what is deployed
 * (`bin/app.ts`), the template.
 *
 * No lookups, no account: the template deploys into any account and region.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, type AppProps as CdkAppProps, RemovalPolicy, type Stack, Tags } from 'aws-cdk-lib/core';
import { defined } from '../core/values/defined.ts';
import type { TriggerSources } from './declared-triggers.ts';
import { discoverWorkflows } from './discover.ts';
import { PACKAGE_ROOT } from '../project/package-files.ts';
import { type StageSettings, SteadfastStack, type SteadfastStackProps } from './steadfast-stack.ts';

/** The context keys, for `-c key=value` and cdk.json. Lists are arrays or separated by commas. */
export const CONTEXT = {
  /** The stage; `bin/app.ts` has its settings. */
  stage: 'stage',
  /** Folders whose subfolders are workflow folders. */
  folders: 'steadfast:folders',
  /** Names of the workflow folders to deploy, as a stack of their own; '*': all, in the stage's own stack. */
  only: 'steadfast:only',
  /** Executions reserved for the supervisors, or 'unreserved'. */
  supervisorConcurrency: 'steadfast:supervisorConcurrency',
  /** The e-mail address for alarms. */
  alarmEmail: 'steadfast:alarmEmail',
  /** The name of a table restored from a backup, to be used instead of the stack's own. */
  restoredTable: 'steadfast:restoredTable',
} as const;

/** The folder of this project's cdk.json, examples and lambdas. */
export const PROJECT_ROOT: string = PACKAGE_ROOT;

/**
 * Makes an app with its tags and the feature flags of cdk.json, which otherwise only the CDK CLI would pass.
 */
export function createApp(props: CdkAppProps = {}): App {
  const { context } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'cdk.json'), 'utf8')) as {
    context: Record<string, unknown>;
  };
  const app = new App({
    ...props,
    // The CLI sets these as well; without them the two ways would give different templates.
    context: {
      'aws:cdk:enable-path-metadata': true,
      'aws:cdk:enable-asset-metadata': true,
      ...context,
      ...props.context,
    },
    analyticsReporting: false,
  });
  Tags.of(app).add('app', 'steadfast');
  Tags.of(app).add('stage', stageIn(app));
  return app;
}

export interface AppProps {
  /**
   * Names of the workflow folders that are deployed if the context names none.
   * @default - all
   */
  readonly deployed?: readonly string[];
  /**
   * The settings of each stage, by name. Resources that need a stack, such as a key or a network, are created
   * in the given one.
   * @default - 'dev', deleted with the stack, and 'prod', kept
   */
  readonly stages?: Readonly<Record<string, StageSettings>>;
  /**
   * The buckets and buses of the folders' triggers, at every stage.
   * @default - the triggers are left out
   */
  readonly sources?: (stack: Stack) => TriggerSources;
}

const STAGES: Readonly<Record<string, StageSettings>> = {
  dev: () => ({ removalPolicy: RemovalPolicy.DESTROY }),
  prod: () => ({ removalPolicy: RemovalPolicy.RETAIN }),
};

/**
 * The name and the settings of the stack that the app's context selects.
 * @throws DiscoveryError about the workflow folders; Error about the context
 */
async function stackAskedFor(
  app: App,
  { deployed, stages = STAGES }: AppProps = {},
): Promise<{ readonly name: string; readonly props: SteadfastStackProps }> {
  const stage = stageIn(app);
  const settings = settingsOf(stage, stages);
  const folders = listOf(CONTEXT.folders, app.node.tryGetContext(CONTEXT.folders));
  const named = listOf(CONTEXT.only, app.node.tryGetContext(CONTEXT.only));
  const own = named?.join() === '*' ? undefined : named;
  const only = named === undefined ? deployed : own;
  const supervisorConcurrency = concurrencyOf(app.node.tryGetContext(CONTEXT.supervisorConcurrency));
  const alarmEmail = emailOf(app.node.tryGetContext(CONTEXT.alarmEmail));
  const restoredTable = tableOf(app.node.tryGetContext(CONTEXT.restoredTable));
  const workflows = await discoverWorkflows({
    root: PROJECT_ROOT,
    folders: folders ?? ['examples'],
    ...(only === undefined ? {} : { only }),
  });
  const props = {
    description: 'Steadfast: multi-step processes that finish or are cleanly undone',
    workflows,
    settings,
    ...defined({ supervisorConcurrency, alarmEmail, restoredTable }),
  };
  return { name: stackNameOf(stage, own), props };
}

/** Adds the stack that the app's context selects. */
export async function addSteadfast(app: App, asked: AppProps = {}): Promise<SteadfastStack> {
  const { name, props } = await stackAskedFor(app, asked);
  const { sources } = asked;
  if (sources === undefined)
    return new SteadfastStack(app, name, { ...props, workflows: { ...props.workflows, triggers: [] } });
  const settings: StageSettings = (stack) => ({ ...sources(stack), ...props.settings?.(stack) });
  return new SteadfastStack(app, name, { ...props, settings });
}

/** Ends the app with the error's message, which names the wrong file; a stack trace would only hide it. */
export function exitWith(error: unknown): never {
  const isWhole = process.env['CDK_DEBUG'] === 'true' && error instanceof Error;
  process.stderr.write(`${isWhole ? error.stack : String(error)}\n`);
  // Ends at once, because the CDK writes an empty assembly when the process ends by itself.
  process.exit(1);
}

/** CloudFormation's limit. */
const LONGEST_STACK_NAME = 128;

/**
 * The stack's name. Folders that are named get a stack of their own, because in the stage's stack they would
 * replace the others.
 */
function stackNameOf(stage: string, folders: readonly string[] | undefined): string {
  if (folders === undefined) return `Steadfast-${stage}`;
  const name = `Steadfast-${stage}-${folders
    .toSorted()
    .join('--')
    .replaceAll(/[^A-Za-z0-9-]/g, '-')}`;
  if (name.length <= LONGEST_STACK_NAME) return name;
  const hash = createHash('sha256').update(folders.toSorted().join()).digest('hex').slice(0, 8);
  return `${name.slice(0, LONGEST_STACK_NAME - hash.length - 1)}-${hash}`;
}

export interface SynthesizeProps {
  /**
   * The folder of the assembly.
   * @default - a new temporary folder
   */
  readonly outdir?: string;
  /** @default ['examples'] */
  readonly folders?: readonly string[];
  /**
   * The workflow folders of the stage's own stack.
   * @default - all
   */
  readonly only?: readonly string[];
  /** @default 'dev' */
  readonly stage?: string;
  /**
   * Whether functions get their code; otherwise each gets a placeholder.
   * @default true
   */
  readonly bundling?: boolean;
  /**
   * Whether the template is checked by CloudFormation's rules, as `cdk synth` always does.
   * @default true
   */
  readonly validation?: boolean;
  /** The construct's option of this name. */
  readonly hosting?: NonNullable<SteadfastStackProps['hosting']>;
}

/** Synthesises in this process, in a fraction of the time that the CDK CLI takes. */
export async function synthesize(
  props: SynthesizeProps = {},
): Promise<{ readonly assembly: string; readonly stackName: string }> {
  const app = createApp({
    ...(props.outdir === undefined ? {} : { outdir: props.outdir }),
    builtinCloudFormationValidation: props.validation ?? true,
    context: {
      ...defined({ [CONTEXT.stage]: props.stage, [CONTEXT.folders]: props.folders }),
      ...(props.bundling === false ? { 'aws:cdk:bundling-stacks': [] } : {}),
    },
  });
  const { only, hosting } = props;
  const dev: StageSettings = () => ({ removalPolicy: RemovalPolicy.DESTROY, ...(hosting && { hosting }) });
  const stages = hosting === undefined ? STAGES : { dev };
  const stack = await addSteadfast(app, { stages, ...(only && { deployed: only }) });
  return { assembly: app.synth().directory, stackName: stack.stackName };
}

const stageIn = (app: App): string => String(app.node.tryGetContext(CONTEXT.stage) ?? 'dev');

/** A stage's name becomes part of the stack's. */
const STAGE = /^[A-Za-z][A-Za-z0-9-]{0,30}$/;

function settingsOf(stage: string, stages: Readonly<Record<string, StageSettings>>): StageSettings {
  const settings = Object.hasOwn(stages, stage) ? stages[stage] : undefined;
  if (settings === undefined || !STAGE.test(stage)) {
    const known = Object.keys(stages).map((each) => `'${each}'`);
    throw new Error(
      `stage is ${JSON.stringify(stage)}; there are ${known.join(', ')}. Add another in bin/app.ts, named with letters, digits and dashes, up to 31`,
    );
  }
  return settings;
}

function listOf(key: string, value: unknown): string[] | undefined {
  if (value === undefined) return undefined;
  const list = typeof value === 'string' ? value.split(',').map((item) => item.trim()) : value;
  if (
    Array.isArray(list) &&
    list.length > 0 &&
    list.every((item) => typeof item === 'string' && item !== '')
  ) {
    return list as string[];
  }
  throw new Error(`${key} is ${JSON.stringify(value)}; allowed: a list of names such as 'one,two'`);
}

function concurrencyOf(value: unknown): number | 'unreserved' | undefined {
  if (value === undefined || value === 'unreserved') return value;
  const count = Number(value);
  if (Number.isInteger(count) && count > 0) return count;
  throw new Error(
    `${CONTEXT.supervisorConcurrency} is ${JSON.stringify(value)}; allowed: a number above 0 and 'unreserved'`,
  );
}

function emailOf(value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && /^\S+@\S+$/.test(value))) return value;
  throw new Error(`${CONTEXT.alarmEmail} is ${JSON.stringify(value)}; allowed: one e-mail address`);
}

function tableOf(value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && /^[\w.-]{3,255}$/.test(value))) return value;
  throw new Error(`${CONTEXT.restoredTable} is ${JSON.stringify(value)}; allowed: the name of a table`);
}
