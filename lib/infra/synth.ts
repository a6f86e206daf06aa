/**
 * From a project's folder to a cloud assembly, with the CDK CLI (`bin/app.ts`) or without (`synthesize`).
 *
 * Owns: the context keys, and that both ways give the same template. Does not own: what is in the template.
 *
 * No lookups, no account: the template deploys into any account and region.
 */

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { App, type AppProps, Tags } from 'aws-cdk-lib/core';
import { discoverWorkflows } from './discover.ts';
import { type StageName, STAGES, SteadfastStack } from './steadfast-stack.ts';

/** What `-c key=value` and cdk.json may set; lists are arrays or comma-separated. */
export const CONTEXT = {
  /** 'dev' or 'prod'. */
  stage: 'stage',
  /** Folders whose subfolders are workflow folders. */
  folders: 'steadfast:folders',
  /** Names of the workflow folders to deploy. */
  only: 'steadfast:only',
  /** Executions set aside for the supervisor, or 'unreserved'. */
  supervisorConcurrency: 'steadfast:supervisorConcurrency',
  /** Where alarms are sent. */
  alarmEmail: 'steadfast:alarmEmail',
  /** Name of a table restored from a backup, to be used in place of the stack's own. */
  restoredTable: 'steadfast:restoredTable',
} as const;

/** Where this project's cdk.json, examples and lambdas are. */
export const PROJECT_ROOT: string = resolve(import.meta.dirname, '..', '..');

/** An app with the feature flags of cdk.json, also when the CDK CLI is not there to pass them. */
export function createApp(props: AppProps = {}): App {
  const { context } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'cdk.json'), 'utf8')) as {
    context: Record<string, unknown>;
  };
  return new App({
    ...props,
    // Set by the CLI as well: without them the two ways would give different templates.
    context: {
      'aws:cdk:enable-path-metadata': true,
      'aws:cdk:enable-asset-metadata': true,
      ...context,
      ...props.context,
    },
    analyticsReporting: false,
  });
}

/**
 * Adds the stack that the app's context asks for.
 * @throws DiscoveryError about the workflow folders; Error about the context
 */
export async function addSteadfast(app: App): Promise<SteadfastStack> {
  const stageName = stageOf(app.node.tryGetContext(CONTEXT.stage));
  const folders = listOf(CONTEXT.folders, app.node.tryGetContext(CONTEXT.folders));
  const only = listOf(CONTEXT.only, app.node.tryGetContext(CONTEXT.only));
  const supervisorConcurrency = concurrencyOf(app.node.tryGetContext(CONTEXT.supervisorConcurrency));
  const alarmEmail = emailOf(app.node.tryGetContext(CONTEXT.alarmEmail));
  const restoredTable = tableOf(app.node.tryGetContext(CONTEXT.restoredTable));
  const workflows = await discoverWorkflows({
    root: PROJECT_ROOT,
    ...(folders === undefined ? {} : { folders }),
    ...(only === undefined ? {} : { only }),
  });
  const stack = new SteadfastStack(app, `Steadfast-${stageName}`, {
    description: 'Steadfast: multi-step processes that finish or are cleanly undone',
    stageName,
    workflows,
    ...(supervisorConcurrency === undefined ? {} : { supervisorConcurrency }),
    ...(alarmEmail === undefined ? {} : { alarmEmail }),
    ...(restoredTable === undefined ? {} : { restoredTable }),
  });
  Tags.of(app).add('app', 'steadfast');
  Tags.of(app).add('stage', stageName);
  return stack;
}

export interface SynthesizeProps {
  /**
   * Where the assembly goes.
   * @default - a new temporary folder
   */
  readonly outdir?: string;
  /** @default ['examples'] */
  readonly folders?: readonly string[];
  /** @default - all workflow folders */
  readonly only?: readonly string[];
  /** @default 'dev' */
  readonly stage?: StageName;
  /**
   * Whether functions get their code. Without it, each gets a placeholder.
   * @default true
   */
  readonly bundling?: boolean;
  /**
   * Whether the template is checked by CloudFormation's rules; `cdk synth` always does.
   * @default true
   */
  readonly validation?: boolean;
}

/** Synthesises in this process, in a fraction of the time that the CDK CLI takes. */
export async function synthesize(
  props: SynthesizeProps = {},
): Promise<{ readonly assembly: string; readonly stackName: string }> {
  const app = createApp({
    ...(props.outdir === undefined ? {} : { outdir: props.outdir }),
    builtinCloudFormationValidation: props.validation ?? true,
    context: {
      ...(props.stage === undefined ? {} : { [CONTEXT.stage]: props.stage }),
      ...(props.folders === undefined ? {} : { [CONTEXT.folders]: props.folders }),
      ...(props.only === undefined ? {} : { [CONTEXT.only]: props.only }),
      ...(props.bundling === false ? { 'aws:cdk:bundling-stacks': [] } : {}),
    },
  });
  const stack = await addSteadfast(app);
  return { assembly: app.synth().directory, stackName: stack.stackName };
}

function stageOf(value: unknown): StageName {
  const stage = STAGES.find((each) => each === (value ?? 'dev'));
  if (stage === undefined) {
    throw new Error(
      `stage is ${JSON.stringify(value)}; allowed are ${STAGES.map((each) => `'${each}'`).join(', ')}`,
    );
  }
  return stage;
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
  throw new Error(`${key} is ${JSON.stringify(value)}; allowed is a list of names such as 'one,two'`);
}

function concurrencyOf(value: unknown): number | 'unreserved' | undefined {
  if (value === undefined || value === 'unreserved') return value;
  const count = Number(value);
  if (Number.isInteger(count) && count > 0) return count;
  throw new Error(
    `${CONTEXT.supervisorConcurrency} is ${JSON.stringify(value)}; allowed are a number above 0 and 'unreserved'`,
  );
}

function emailOf(value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && /^\S+@\S+$/.test(value))) return value;
  throw new Error(`${CONTEXT.alarmEmail} is ${JSON.stringify(value)}; allowed is one e-mail address`);
}

function tableOf(value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && /^[\w.-]{3,255}$/.test(value))) return value;
  throw new Error(`${CONTEXT.restoredTable} is ${JSON.stringify(value)}; allowed is the name of a table`);
}
