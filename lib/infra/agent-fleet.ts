/**
 * One queue, one dead-letter queue and one function per agent.
 *
 * Owns: the queues' settings and who may send to them. Does not own: what a message says.
 *
 * A message is a hint, the table decides; so a queue may lose, repeat or keep one too long, and the dead-letter queue
 * is evidence for people and nothing else.
 */

import type { Grant, IGrantable, IPrincipal } from 'aws-cdk-lib/aws-iam';
import { Grant as Grants, UnknownPrincipal } from 'aws-cdk-lib/aws-iam';
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
import { Duration, Names, Stack, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { ENV } from '../aws/names.ts';
import { AgentContainer } from './agent-container.ts';
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
/** What a worker does, which renews the time for which others do not see a message. */
const WORK = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility'];
/** For a worker, which asks for its own with each message. */
const WORKER_VISIBILITY = Duration.minutes(1);

/** What the fleet needs to know of an agent. */
export interface AgentDeclaration {
  readonly name: string;
  readonly timeoutMs: number;
  /** Absent: in a function. */
  readonly runsIn?: 'container';
  /** The agents it may have to send to, itself included. */
  readonly peers: readonly string[];
}

export interface AgentProps {
  readonly agentName: string;
  /** One attempt's longest time. */
  readonly timeout: Duration;
  readonly runsIn?: 'container';
  readonly code: () => Code;
  /** The folder of the image of an agent that runs in a container; none where the stack needs no code. */
  readonly imageFolder: () => string | undefined;
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
  /** None when it runs in a container. */
  readonly function?: IFunction;
  /** The service that runs it; none when it runs in a function, or in a container of your own. */
  readonly container?: AgentContainer;
  /** Where it writes; a function of your own has one of your own. */
  readonly logGroup?: ILogGroup;
  readonly grantPrincipal: IPrincipal;

  constructor(scope: Construct, id: string, props: AgentProps) {
    super(scope, id);
    this.agentName = props.agentName;
    const { settings } = props;
    const maxConcurrency = settings.maxConcurrency ?? props.maxConcurrency;
    checkSettings(props.agentName, settings, maxConcurrency, props.runsIn);
    const inFunction = props.runsIn === undefined;
    const timeout = inFunction ? functionTimeout(props.agentName, props.timeout) : props.timeout;
    const longest = settings.function instanceof LambdaFunction ? settings.function.timeout : undefined;
    const { queue, deadLetterQueue } = this.makeQueues(
      props.encryptionKey,
      inFunction ? Duration.seconds((longest ?? timeout).toSeconds() * VISIBILITY_FACTOR) : WORKER_VISIBILITY,
    );
    this.queue = queue;
    this.deadLetterQueue = deadLetterQueue;
    if (!inFunction) {
      const container = this.makeContainer(props);
      this.grantPrincipal = container?.grantPrincipal ?? new UnknownPrincipal({ resource: this });
      if (container === undefined) return;
      this.container = container;
      this.logGroup = container.logGroup;
      this.grantWork(container);
      return;
    }
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
    this.grantOnQueue(this.function, CONSUME);
    this.grantPrincipal = this.function.grantPrincipal;
  }

  private makeQueues(
    key: IKey | undefined,
    visibilityTimeout: Duration,
  ): { readonly queue: Queue; readonly deadLetterQueue: Queue } {
    const atRest =
      key === undefined
        ? { encryption: QueueEncryption.SQS_MANAGED }
        : { encryption: QueueEncryption.KMS, encryptionMasterKey: key };
    const deadLetterQueue = new Queue(this, 'DeadLetterQueue', {
      enforceSSL: true,
      ...atRest,
      retentionPeriod: Duration.days(14),
    });
    const queue = new Queue(this, 'Queue', {
      enforceSSL: true,
      ...atRest,
      visibilityTimeout,
      deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount: MAX_RECEIVES },
    });
    return { queue, deadLetterQueue };
  }

  private makeContainer(props: AgentProps): AgentContainer | undefined {
    const { agentName, settings, logs } = props;
    const imageFolder = props.imageFolder();
    if (settings.container === undefined) {
      Validations.of(this).addWarning(
        'steadfast:noContainer',
        `agent '${agentName}' runs in a container, and nothing here runs it: set agentSettings['${agentName}'].container, or run it yourself with a role that steadfast.grantWork('${agentName}', …) allows the work`,
      );
      return undefined;
    }
    return new AgentContainer(this, 'Container', {
      agentName,
      settings: settings.container,
      imageFolder,
      environment: { ...settings.environment, ...props.environment },
      logs,
    });
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
    return this.grantOnQueue(grantee, ['sqs:GetQueueAttributes']);
  }

  /** Sending a message to this agent. */
  grantSend(grantee: IGrantable): Grant {
    return this.grantOnQueue(grantee, ['sqs:SendMessage']);
  }

  /** Taking its messages, as a worker does; `steadfast.grantWork` adds what the work itself needs. */
  grantWork(grantee: IGrantable): Grant {
    return this.grantOnQueue(grantee, WORK);
  }

  private grantOnQueue(grantee: IGrantable, actions: string[]): Grant {
    return Grants.addToPrincipal({ grantee, actions, resourceArns: [this.queue.queueArn] });
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
  /** Of agents that run in containers. */
  readonly imageFolder: (agentName: string) => string | undefined;
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
    const { agents, code, imageFolder, settings, ...shared } = props;
    const names = agents.map(({ name }) => name);
    const stranger = Object.keys(settings).find((name) => !names.includes(name));
    if (stranger !== undefined)
      throw new Error(
        `settings for an agent '${stranger}', which does not exist; there are ${names.join(', ')}`,
      );
    this.agents = new Map(
      agents.map(({ name, timeoutMs, runsIn }) => {
        const own = {
          agentName: name,
          timeout: Duration.millis(timeoutMs),
          ...(runsIn === undefined ? {} : { runsIn }),
          code: () => code(name),
          imageFolder: () => imageFolder(name),
          settings: settings[name] ?? {},
        };
        return [name, new Agent(this, name, { ...shared, ...own })];
      }),
    );
    for (const { name, peers } of agents) {
      const agent = this.agents.get(name);
      if (agent?.function !== undefined) this.allowSending(agent.function, peers);
      agent?.container?.addEnvironment(ENV.queues, this.grantSending(agent.container, peers));
    }
  }

  /** Lets a function send to these agents (to all when none are named) and tells it their queues. */
  allowSending(sender: IFunction, names: readonly string[] = [...this.agents.keys()]): void {
    const queues = this.grantSending(sender, names);
    this.refuseTooMany(sender, names);
    if (sender instanceof LambdaFunction) sender.addEnvironment(ENV.queues, queues);
  }

  /** @returns the queues of these agents, for the environment of the sender */
  grantSending(sender: IGrantable, names: readonly string[]): string {
    const urls: Record<string, string> = {};
    for (const name of names) {
      const agent = this.agents.get(name);
      if (agent === undefined) continue;
      agent.grantSend(sender);
      urls[name] = agent.queue.queueUrl;
    }
    return Stack.of(this).toJsonString(urls);
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
