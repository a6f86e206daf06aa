/**
 * One queue, one dead-letter queue and one function per agent.
 *
 * Owns: the queues' settings and who may send to them. Does not own: what a message says.
 *
 * A message is a hint, the table decides; so a queue may lose, repeat or keep one too long, and the dead-letter queue
 * is evidence for people and nothing else.
 */

import type { Grant, IGrantable, IPrincipal } from 'aws-cdk-lib/aws-iam';
import { Grant as Grants } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  type Code,
  Function as LambdaFunction,
  type IFunction,
  RecursiveLoop,
  type Tracing,
} from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Duration, Names, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { ENV } from '../aws/names.ts';
import { adopt, type AgentSettings, checkSettings } from './agent-settings.ts';
import { addFunction, type LogSettings } from './function.ts';

/** For the abort, the report and a cold start, beyond the author's own limit. */
const SPARE_SECONDS = 15;
const LONGEST_SECONDS = 900;
/** AWS asks for six times the function's timeout, so that throttled polls do not return a message under work. */
const VISIBILITY_FACTOR = 6;
/** A poll may take a message and never run the function; fewer receives would call that poison. */
const MAX_RECEIVES = 5;

/** What Lambda does on a queue with the function's role. */
const CONSUME = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];

/** What the fleet needs to know of an agent. */
export interface AgentDeclaration {
  readonly name: string;
  readonly timeoutMs: number;
  /** The agents it may have to send to, itself included. */
  readonly peers: readonly string[];
}

export interface AgentProps {
  readonly agentName: string;
  /** One attempt's longest time. */
  readonly timeout: Duration;
  readonly code: () => Code;
  readonly environment: Readonly<Record<string, string>>;
  readonly logs: LogSettings;
  /** Messages under work at the same time, 2 to 1000. */
  readonly maxConcurrency: number;
  readonly memorySize: number;
  readonly tracing?: Tracing;
  readonly encryptionKey?: IKey;
  /** What is set for this agent alone. */
  readonly settings: AgentSettings;
}

/** One agent. Grant it what its outside service needs: `secret.grantRead(steadfast.agent('charge-card'))`. */
export class Agent extends Construct implements IGrantable {
  readonly agentName: string;
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;
  readonly function: IFunction;
  /** Where its function writes; a function of your own has one of your own. */
  readonly logGroup?: ILogGroup;
  readonly grantPrincipal: IPrincipal;

  constructor(scope: Construct, id: string, props: AgentProps) {
    super(scope, id);
    this.agentName = props.agentName;
    const { settings } = props;
    const maxConcurrency = settings.maxConcurrency ?? props.maxConcurrency;
    checkSettings(props.agentName, settings, maxConcurrency);
    const timeout = functionTimeout(props.agentName, props.timeout);
    const atRest =
      props.encryptionKey === undefined
        ? { encryption: QueueEncryption.SQS_MANAGED }
        : { encryption: QueueEncryption.KMS, encryptionMasterKey: props.encryptionKey };
    this.deadLetterQueue = new Queue(this, 'DeadLetterQueue', {
      enforceSSL: true,
      ...atRest,
      retentionPeriod: Duration.days(14),
    });
    const longest = settings.function instanceof LambdaFunction ? settings.function.timeout : undefined;
    this.queue = new Queue(this, 'Queue', {
      enforceSSL: true,
      ...atRest,
      visibilityTimeout: Duration.seconds((longest ?? timeout).toSeconds() * VISIBILITY_FACTOR),
      deadLetterQueue: { queue: this.deadLetterQueue, maxReceiveCount: MAX_RECEIVES },
    });
    if (settings.function === undefined) {
      const made = this.makeFunction(props, timeout);
      // The class spells an optional member otherwise than its interface (exactOptionalPropertyTypes).
      this.function = made as IFunction;
      this.logGroup = made.logGroup;
    } else {
      this.function = settings.function;
      adopt(this, props.agentName, settings.function, timeout, props.environment);
    }
    // The id is that of CDK's SqsEventSource, which would also let the function change visibilities.
    this.function.addEventSourceMapping(`SqsEventSource:${Names.nodeUniqueId(this.queue.node)}`, {
      eventSourceArn: this.queue.queueArn,
      batchSize: settings.batchSize ?? 1,
      reportBatchItemFailures: true,
      maxConcurrency,
    });
    Grants.addToPrincipal({ grantee: this.function, actions: CONSUME, resourceArns: [this.queue.queueArn] });
    this.grantPrincipal = this.function.grantPrincipal;
  }

  private makeFunction(props: AgentProps, timeout: Duration): LambdaFunction {
    const { environment, memorySize, reservedConcurrency, vpc, vpcSubnets, securityGroups } = props.settings;
    return addFunction(this, {
      description: `Steadfast agent ${props.agentName}`,
      code: props.code(),
      timeout,
      memorySize: memorySize ?? props.memorySize,
      environment: { ...environment, ...props.environment },
      logs: props.logs,
      // One execution runs through agent after agent in one chain of messages; Lambda would cut it after 16. The
      // dispatch budget of each execution bounds it instead.
      recursiveLoop: RecursiveLoop.ALLOW,
      ...(props.tracing === undefined ? {} : { tracing: props.tracing }),
      ...(reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: reservedConcurrency }),
      ...(vpc === undefined ? {} : { vpc }),
      ...(vpcSubnets === undefined ? {} : { vpcSubnets }),
      ...(securityGroups === undefined ? {} : { securityGroups: [...securityGroups] }),
    });
  }

  /** Asking how full its queue is. */
  grantDepth(grantee: IGrantable): Grant {
    return Grants.addToPrincipal({
      grantee,
      actions: ['sqs:GetQueueAttributes'],
      resourceArns: [this.queue.queueArn],
    });
  }

  /** Sending a message to this agent. */
  grantSend(grantee: IGrantable): Grant {
    return Grants.addToPrincipal({
      grantee,
      actions: ['sqs:SendMessage'],
      resourceArns: [this.queue.queueArn],
    });
  }
}

function functionTimeout(agentName: string, attempt: Duration): Duration {
  const seconds = Math.ceil(attempt.toMilliseconds() / 1_000) + SPARE_SECONDS;
  if (seconds > LONGEST_SECONDS) {
    throw new Error(
      `agent '${agentName}': a timeout of ${attempt.toSeconds({ integral: false })} s is too long for a Lambda function; allowed are ${LONGEST_SECONDS - SPARE_SECONDS} s`,
    );
  }
  return Duration.seconds(seconds);
}

export interface AgentFleetProps {
  readonly agents: readonly AgentDeclaration[];
  readonly code: (agentName: string) => Code;
  /** What every agent's function has in its environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly logs: LogSettings;
  readonly maxConcurrency: number;
  readonly memorySize: number;
  readonly tracing?: Tracing;
  readonly encryptionKey?: IKey;
  /** By agent name. */
  readonly settings: Readonly<Record<string, AgentSettings>>;
}

/** All agents of a deployment. */
export class AgentFleet extends Construct {
  readonly agents: ReadonlyMap<string, Agent>;

  constructor(scope: Construct, id: string, props: AgentFleetProps) {
    super(scope, id);
    const { agents, code, settings, ...shared } = props;
    const names = agents.map(({ name }) => name);
    const stranger = Object.keys(settings).find((name) => !names.includes(name));
    if (stranger !== undefined)
      throw new Error(
        `settings for an agent '${stranger}', which does not exist; there are ${names.join(', ')}`,
      );
    this.agents = new Map(
      agents.map(({ name, timeoutMs }) => {
        const own = {
          agentName: name,
          timeout: Duration.millis(timeoutMs),
          code: () => code(name),
          settings: settings[name] ?? {},
        };
        return [name, new Agent(this, name, { ...shared, ...own })];
      }),
    );
    for (const { name, peers } of agents) {
      const agent = this.agents.get(name);
      if (agent !== undefined) this.allowSending(agent.function, peers);
    }
  }

  /** Lets a function send to these agents (to all when none are named) and tells it their queues. */
  allowSending(sender: IFunction, names: readonly string[] = [...this.agents.keys()]): void {
    const urls: Record<string, string> = {};
    for (const name of names) {
      const agent = this.agents.get(name);
      if (agent === undefined) continue;
      agent.grantSend(sender);
      urls[name] = agent.queue.queueUrl;
    }
    this.refuseTooMany(sender, Object.keys(urls));
    if (sender instanceof LambdaFunction)
      sender.addEnvironment(ENV.queues, Stack.of(this).toJsonString(urls));
  }

  /**
   * A function's environment holds 4 KB. Counted with the shortest address a queue can have, so that what is refused
   * here would be refused by AWS in the middle of a deployment.
   */
  private refuseTooMany(sender: IFunction, names: readonly string[]): void {
    const stack = Stack.of(this);
    const address = 'https://sqs.us-east-1.amazonaws.com/123456789012/'.length;
    const bytes = names.map((name) => {
      const queue = this.agents.get(name)?.queue;
      const logicalId = String(stack.resolve(queue?.stack.getLogicalId(queue.node.defaultChild as never)));
      const physicalName = Math.min(80, stack.stackName.length + logicalId.length + '--123456789012'.length);
      return name.length + '"":"",'.length + address + physicalName;
    });
    const total = bytes.reduce((sum, each) => sum + each, 0);
    if (total > 4_096) {
      throw new Error(
        `${sender.node.path}: the addresses of ${names.length} agents take ${total} bytes, a Lambda environment holds 4096; deploy the workflows as two stacks (-c steadfast:only=…)`,
      );
    }
  }
}
