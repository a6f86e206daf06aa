/**
 * Refuses at synthesis a deployment that AWS would refuse halfway, with a number and a remedy.
 *
 * Owns: the limits that a deployment can reach, how it is measured against them, how its workflows can be
 * distributed over several stacks. Does not own: limits of single settings, which are refused where they are
 * set (`agent-settings.ts`, `triggers.ts`).
 *
 * Other limits cannot be reached within these, as `limits.test.ts` shows with the fullest stack: the size of
 * the template, of policies (the CDK moves statements that do not fit into a role's own policies to managed
 * ones), of the dashboard.
 */

import { basename, dirname } from 'node:path';
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnResource, Stack } from 'aws-cdk-lib/core';
import type { Construct, IConstruct } from 'constructs';
import type { AgentFunction } from './deployed-agent.ts';
import type { Discovery } from './discovery.ts';
import type { StartQueue } from './start-queue.ts';
import { longestText, type Names, namesIn } from './token-text.ts';

/**
 * The most resources of a stack:
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
 */
const MOST_RESOURCES = 500;
/**
 * All variables of a function together, as JSON with its quotes and escapes, which is how Lambda measures
 * them (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html; its error shows what it
 * measured: https://github.com/github-aws-runners/terraform-aws-github-runner/issues/3594).
 */
const MOST_ENVIRONMENT_BYTES = 4_096;

export interface Deployment {
  readonly found: Discovery;
  readonly agents: ReadonlyMap<string, AgentFunction>;
  readonly triggers: ReadonlyMap<string, StartQueue>;
}

/** Checks the limits when the app is synthesised, so that everything added until then counts. */
export function keepWithinLimits(scope: Construct, deployment: Deployment): void {
  scope.node.addValidation({
    validate: () => [...tooManyResources(scope, deployment), ...environmentsTooLarge(scope, deployment)],
  });
}

const resourcesIn = (scope: IConstruct): CfnResource[] =>
  scope.node.findAll().filter((node): node is CfnResource => CfnResource.isCfnResource(node));

function tooManyResources(scope: Construct, deployment: Deployment): string[] {
  const stack = Stack.of(scope);
  const all = resourcesIn(stack).filter((resource) => resource.stack === stack).length;
  if (all <= MOST_RESOURCES) return [];
  const folders = foldersOf(deployment);
  const base = all - folders.reduce((sum, { resources }) => sum + resources, 0);
  const room = MOST_RESOURCES - base;
  const needs = `${all} resources, and a CloudFormation stack can have ${MOST_RESOURCES}`;
  const alone = folders.find(({ resources }) => resources > room);
  if (alone !== undefined) {
    return [
      `the workflows need ${needs}; ${alone.name} alone has ${alone.agents} agents, and beside ${base} other resources there is room for ${room} of its ${alone.resources}: let steps share agents, divide the folder, or leave out the alarms (monitoring: 'none')`,
    ];
  }
  const stacks = dealtOut(folders, room);
  const names = stacks.map((some) => some.map(({ name }) => name).join(','));
  return [
    `the workflows need ${needs}; deploy them as ${stacks.length} stacks: ${names.map((each) => `-c steadfast:only=${each}`).join(' · ')} (in a stack of your own: discoverWorkflows with 'only'). Each has a name, an API and a table of its own`,
  ];
}

interface Folder {
  readonly name: string;
  readonly agents: number;
  readonly resources: number;
}

/** Workflows that are deployed or left out together, with their resources. */
function foldersOf({ found, agents, triggers }: Deployment): Folder[] {
  const nameOf = (file: string): string => basename(dirname(file));
  const names = [...new Set(found.workflows.map(({ file }) => nameOf(file)))].sort();
  return names.map((name) => {
    const workflows = found.workflows.filter(({ file }) => nameOf(file) === name);
    const own = new Set(workflows.flatMap((workflow) => workflow.agents));
    const ofAgents = [...own].flatMap((agent) => agents.get(agent) ?? []);
    const ofTriggers = [...triggers.values()].filter(({ workflowName }) =>
      workflows.some((workflow) => workflow.name === workflowName),
    );
    const counted = [...ofAgents, ...ofTriggers].map((part) => resourcesIn(part).length);
    const resources = counted.reduce((sum, each) => sum + each, 0);
    return { name, agents: ofAgents.length, resources };
  });
}

/** Distributes folders over stacks: the largest first, each to the first stack with enough room. */
function dealtOut(folders: readonly Folder[], room: number): Folder[][] {
  const stacks: Folder[][] = [];
  const used = (some: readonly Folder[]): number => some.reduce((sum, { resources }) => sum + resources, 0);
  for (const folder of folders.toSorted((a, b) => b.resources - a.resources)) {
    const place = stacks.find((some) => used(some) + folder.resources <= room);
    if (place === undefined) stacks.push([folder]);
    else place.push(folder);
  }
  return stacks;
}

function environmentsTooLarge(scope: Construct, { agents }: Deployment): string[] {
  const ours = resourcesIn(scope).filter(
    ({ cfnResourceType }) => cfnResourceType === 'AWS::Lambda::Function',
  );
  const adopted = [...agents.values()].flatMap((agent) => agent.function?.node.defaultChild ?? []);
  const functions = new Set([...ours, ...adopted.filter((each) => CfnResource.isCfnResource(each))]);
  const names = namesIn(Stack.of(scope));
  return [...functions].flatMap((each) => {
    const bytes = environmentBytes(each as CfnFunction, names);
    if (bytes <= MOST_ENVIRONMENT_BYTES) return [];
    return [
      `${each.node.path}: its environment variables take up to ${bytes} bytes as JSON, and a Lambda function holds ${MOST_ENVIRONMENT_BYTES}; shorten what agentSettings adds, keep it in a parameter or a secret, or deploy fewer workflows together (-c steadfast:only=…)`,
    ];
  });
}

/** The bytes that Lambda counts. Names that only the deployment chooses count with their longest length. */
function environmentBytes(resource: CfnFunction, names: Names): number {
  const { variables = {} } = (resource.stack.resolve(resource.environment) ?? {}) as {
    readonly variables?: Readonly<Record<string, unknown>>;
  };
  const texts = Object.entries(variables).map(([name, value]) => [name, longestText(value, names)]);
  return Buffer.byteLength(JSON.stringify(Object.fromEntries(texts)));
}
