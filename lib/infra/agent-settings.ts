/**
 * The settings of a single agent, and how your own function becomes an agent's.
 *
 * Owns: the settings, and every refusal about them. Does not own: an agent's timeout, which its workflow
 * declares, the queue (`deployed-agent.ts`).
 */

import { CONTAINER_OPTIONS, type ContainerSettings } from './agent-container.ts';
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import {
  type ApplicationLogLevel,
  type CfnFunction,
  Function as LambdaFunction,
  type IFunction,
  RecursiveLoop,
} from 'aws-cdk-lib/aws-lambda';
import { type Duration, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { ENV } from '../aws/names.ts';
import type { KeysOf } from '../core/values/options.ts';
import { rateProblem } from '../core/values/rate.ts';
import { checkOptions } from './known-options.ts';

export interface AgentSettings {
  /**
   * The name of a host: all agents that name the same one share a function. Each keeps its queue; memory,
   * environment, network and permissions apply to all of them. An attempt that ends the process (memory,
   * `process.exit`, an endless loop) also ends the others' attempts in it.
   * @default - by `hosting`; `httpAgent`s that send the same secret share one
   */
  readonly host?: string;
  /**
   * Whether the process of the previous step may begin this agent's attempt itself, if both are in the same
   * host; refused if it has a function of its own.
   * @default - yes, except for an agent that is `unsafe`, is an `httpAgent`, or has a `rate` or a
   * `maxConcurrency` of its own
   */
  readonly carryOn?: boolean;
  /**
   * Allows another agent of its host to take more than four times as long. After a crash, this agent's probe
   * is then believed, and its undo begins, only when the longest agent's time would be over. Refused if
   * it has a function of its own.
   * @default false
   */
  readonly longHost?: boolean;
  /**
   * Memory of its function, in MB; CPU grows with it.
   * @default - the deployment's `memorySize`
   */
  readonly memorySize?: number;
  /**
   * The most messages that are processed at the same time, 2 to 1000.
   * @default - the deployment's `agentConcurrency`
   */
  readonly maxConcurrency?: number;
  /**
   * The number of messages that one invocation processes side by side, 1 to 10. More than 1 pays if the agent
   * mostly waits.
   * @default 1
   */
  readonly batchSize?: number;
  /**
   * Concurrent executions reserved for its function, at least its maximum concurrency.
   * @default - none
   */
  readonly reservedConcurrency?: number;
  /**
   * How many of its attempts may begin, over all its processes: `'50/s'`, `'30/min'`; at most `'500/s'`.
   * Further ones are deferred, which costs no attempt. Each attempt costs a write of the table; in a busy
   * process several share one.
   * @default - no limit
   */
  readonly rate?: string;
  /**
   * The lowest level that its function or container logs. `ApplicationLogLevel.DEBUG` logs every healthy step
   * as well.
   * @default - the deployment's `logLevel`
   */
  readonly logLevel?: ApplicationLogLevel;
  /**
   * Environment variables, in addition to those that Steadfast sets.
   * @default - none
   */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Files and folders that its code reads, relative to the agent's file: `['./letter.txt', '../templates']`.
   * They are at the same relative place in the asset, so that `new URL('./letter.txt', import.meta.url)`
   * finds them in tests, in `serve`, in `dev` and on AWS.
   * @default - none
   */
  readonly files?: readonly string[];
  /**
   * Packages that are put beside the bundle instead of into it, with their dependencies: native modules, and
   * packages that read files of their own. They come from the project's `node_modules`. A function runs on
   * Linux and arm64, so to deploy from another machine install them by `npm install --os=linux --cpu=arm64
   * --libc=glibc`.
   * @default - none
   */
  readonly nodeModules?: readonly string[];
  /**
   * The network of its function, which then needs a route to the AWS services: a NAT gateway, or endpoints.
   * @default - none
   */
  readonly vpc?: IVpc;
  /**
   * The subnets of that network.
   * @default - the private ones
   */
  readonly vpcSubnets?: SubnetSelection;
  /**
   * The security groups of its function in that network.
   * @default - a new one that allows all outbound traffic
   */
  readonly securityGroups?: readonly ISecurityGroup[];
  /**
   * A function of your own whose handler is the agent's `handler(…)`. Only `maxConcurrency`, `batchSize`,
   * `rate` and `remoteFunction` still apply to it. An imported function cannot be changed, so a warning says
   * what it needs.
   * @default - one made from the agent's file
   */
  readonly function?: IFunction;
  /**
   * The Lambda function that does the work of a `remoteAgent(…, { lambda: true })`; also a version or an
   * alias. The agent may invoke it, and nothing else.
   * @default - none
   */
  readonly remoteFunction?: IFunction;
  /**
   * The service that runs an agent declared with `runsIn: 'container'`. Besides it only `environment`,
   * `files`, `logLevel`, `nodeModules`, `rate` and `remoteFunction` apply.
   * @default - no service: run its image, or `npx steadfast worker`, with a role that `grantWork` allows the
   * work
   */
  readonly container?: ContainerSettings;
}

const AGENT_OPTIONS = {
  host: true,
  carryOn: true,
  longHost: true,
  memorySize: true,
  maxConcurrency: true,
  batchSize: true,
  reservedConcurrency: true,
  rate: true,
  logLevel: true,
  environment: true,
  vpc: true,
  vpcSubnets: true,
  securityGroups: true,
  function: true,
  remoteFunction: true,
  files: true,
  nodeModules: true,
  container: true,
} as const satisfies KeysOf<AgentSettings>;

/** SQS event sources accept 2 to 1000; a batch of more than 10 would need a window. */
const MAX_CONCURRENCY = [2, 1_000] as const;
const BATCH = [1, 10] as const;

/** Names settings that would have no effect, and says what to do instead. */
function voidSettings(
  settings: AgentSettings,
  runsIn: 'container' | undefined,
  isDeclared: boolean,
): string | undefined {
  const set = (...names: readonly (keyof AgentSettings)[]): string =>
    names.filter((name) => settings[name] !== undefined).join(', ');
  const [ofCode, ofService] = [set('files', 'nodeModules'), set('environment', 'logLevel')];
  if (isDeclared && ofCode !== '') return `${ofCode}: its work is declared, and has no code that reads it`;
  if (settings.container?.image !== undefined && ofCode !== '')
    return `${ofCode}: put it into your own image (container.image)`;
  if (runsIn === 'container' && settings.container === undefined && ofService !== '')
    return `${ofService}: no service of this stack runs it; set it where you run its image, or set container`;
  const {
    function: own,
    maxConcurrency: _,
    batchSize: __,
    remoteFunction: ___,
    rate: ____,
    ...rest
  } = settings;
  if (own === undefined || Object.keys(rest).length === 0) return undefined;
  return `${Object.keys(rest).join(', ')}: set it on your own function`;
}

/** @throws Error naming the agent, the setting and what is allowed */
export function checkSettings(
  agent: string,
  settings: AgentSettings,
  maxConcurrency: number,
  { runsIn, declared }: { readonly runsIn?: 'container'; readonly declared?: object },
): void {
  const refuse = (what: string): never => {
    throw new Error(`agent '${agent}': ${what}`);
  };
  checkOptions(`agentSettings['${agent}']`, settings, AGENT_OPTIONS);
  checkOptions(`agentSettings['${agent}'].container`, settings.container, CONTAINER_OPTIONS);
  if (runsIn === undefined && settings.container !== undefined)
    refuse(
      "container: this agent runs in a Lambda function; to use it, declare the agent with runsIn: 'container'",
    );
  const {
    container: _container,
    environment: _environment,
    files: _files,
    nodeModules: _packages,
    logLevel: _level,
    rate,
    remoteFunction: _remote,
    ...ofFunctions
  } = settings;
  const problem = rate === undefined ? undefined : rateProblem(rate);
  if (problem !== undefined) refuse(problem);
  if (runsIn === 'container' && Object.keys(ofFunctions).length > 0)
    refuse(
      `${Object.keys(ofFunctions).join(', ')}: not allowed for an agent in a container; allowed: container, environment, files, logLevel, nodeModules, rate and remoteFunction`,
    );
  const whyVoid = voidSettings(settings, runsIn, declared !== undefined);
  if (whyVoid !== undefined) refuse(whyVoid);
  const within = (name: string, value: number, [least, most]: readonly [number, number]): void => {
    if (!Number.isInteger(value) || value < least || value > most)
      refuse(`${name} is ${value}; allowed: ${least} to ${most}`);
  };
  within('maxConcurrency', maxConcurrency, MAX_CONCURRENCY);
  within('batchSize', settings.batchSize ?? 1, BATCH);
  const { reservedConcurrency: reserved } = settings;
  if (reserved !== undefined && reserved < maxConcurrency) {
    refuse(
      `reservedConcurrency is ${reserved}, less than its maxConcurrency of ${maxConcurrency}: messages beyond it would be throttled into the dead-letter queue`,
    );
  }
  const ours = Object.keys(settings.environment ?? {}).find((name) => name.startsWith('STEADFAST_'));
  if (ours !== undefined) refuse(`the environment variable ${ours} is set by Steadfast`);
  if (settings.carryOn === true && (rate !== undefined || settings.maxConcurrency !== undefined))
    refuse(
      'carryOn: not allowed beside a rate or a maxConcurrency of its own, which hold for what comes by its queue',
    );
}

/**
 * Variables for the relay of a remote agent.
 * @throws Error if the agent needs a Lambda function and none is named, or the other way round
 */
export function remoteEnvironment(
  agent: string,
  remote: 'lambda' | 'url' | 'command' | undefined,
  { remoteFunction }: AgentSettings,
): Readonly<Record<string, string>> {
  if (remote === 'lambda' && remoteFunction === undefined)
    throw new Error(
      `agent '${agent}': it is declared with lambda: true, but no function is set: set agentSettings['${agent}'].remoteFunction`,
    );
  if (remoteFunction === undefined) return {};
  if (remote === 'lambda') return { [ENV.remoteFunction]: remoteFunction.functionArn };
  throw new Error(
    `agent '${agent}': remoteFunction is for an agent whose file says remoteAgent(…, { lambda: true })`,
  );
}

/** Turns your own function into an agent's, as far as it can be changed. */
export function adopt(
  scope: Construct,
  agent: string,
  own: IFunction,
  timeout: Duration,
  environment: Readonly<Record<string, string>>,
): void {
  if (own instanceof LambdaFunction) {
    if (own.timeout !== undefined && own.timeout.toSeconds() < timeout.toSeconds()) {
      throw new Error(
        `agent '${agent}': your own function has a timeout of ${own.timeout.toSeconds()} s; an attempt needs ${timeout.toSeconds()} s`,
      );
    }
    for (const [name, value] of Object.entries(environment)) own.addEnvironment(name, value);
    (own.node.defaultChild as CfnFunction).recursiveLoop = RecursiveLoop.ALLOW;
    return;
  }
  const variables = Object.keys(environment).join(', ');
  Validations.of(scope).addWarning(
    'steadfast:importedFunction',
    `agent '${agent}': the imported function ${own.functionName} cannot be changed from here. Set on it: the environment variables ${variables}, STEADFAST_QUEUES and STEADFAST_AGENTS as other agents have them, RecursiveLoop Allow, a timeout of ${timeout.toSeconds()} s or more, and the permissions that its role lacks`,
  );
}
