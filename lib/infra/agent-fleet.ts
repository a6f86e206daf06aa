/**
 * One queue and one function per agent, and one dead-letter queue for all of them.
 *
 * Owns: the queues' settings and who may send to them. Does not own: what a message says, the queues' names
 * (`queue-names.ts`).
 *
 * A message is a hint, the table decides; so a queue may lose, repeat or keep one too long, and the
 * dead-letter queue is evidence for people and nothing else: each message in it says from which queue it
 * came. A stack holds 500 resources, so what agents can share they do.
 */

import type { Grant, IGrantable, IPrincipal } from 'aws-cdk-lib/aws-iam';
import {
  AnyPrincipal,
  Effect,
  Grant as Grants,
  PolicyStatement,
  UnknownPrincipal,
} from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  type Code,
  Function as LambdaFunction,
  type IFunction,
  RecursiveLoop,
  type Tracing,
} from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Queue, QueueEncryption, QueuePolicy, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Duration, Names, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { ENV } from '../aws/names.ts';
import { AgentContainer } from './agent-container.ts';
import { adopt, type AgentSettings, checkSettings, remoteEnvironment } from './agent-settings.ts';
import { addFunction, type LogSettings } from './function.ts';
import { tagPart } from './parts.ts';
import { queuePrefix } from './queue-names.ts';

/** For the abort, the report and a cold start, beyond the author's own limit. */
const SPARE_SECONDS = 15;
const LONGEST_SECONDS = 900;
/**
 * AWS asks for six times the function's timeout, so that throttled polls do not return a message under work.
 */
const VISIBILITY_FACTOR = 6;
/** A poll may take a message and never run the function; fewer receives would call that poison. */
const MAX_RECEIVES = 5;

/**
 * Queues that a function's policy names one by one; what is too long for the role becomes a policy of its
 * own, another resource for each agent.
 */
const MOST_NAMED = 30;

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
  /** Absent: its file has the code itself. */
  readonly remote?: 'lambda' | 'url' | 'command';
  /** The agents it may have to send to, itself included. */
  readonly peers: readonly string[];
}

export interface AgentProps {
  readonly agentName: string;
  readonly queueName: string;
  /** One attempt's longest time. */
  readonly timeout: Duration;
  readonly runsIn?: 'container';
  readonly remote?: 'lambda' | 'url' | 'command';
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
  /** Holds what agents share. */
  readonly fleet: Construct;
  /** Shared by all agents. */
  readonly deadLetterQueue: Queue;
}

/**
 * One agent. Grant it what its external service needs: `secret.grantRead(steadfast.agent('charge-card'))`.
 */
export class Agent extends Construct implements IGrantable {
  readonly agentName: string;
  /** Messages under work at the same time; of a container nothing, for it takes none of Lambda's. */
  readonly maxConcurrency: number;
  readonly queue: Queue;
  /** Shared by all agents. */
  readonly deadLetterQueue: Queue;
  /** None when it runs in a container. */
  readonly function?: IFunction;
  /** The service that runs it; none when it runs in a function, or in a container of your own. */
  readonly container?: AgentContainer;
  /** Where it writes; a function of your own has one of your own. */
  readonly logGroup?: ILogGroup;
  readonly grantPrincipal: IPrincipal;
  /** What it must find in its environment to reach what does its work, of an agent in another language. */
  readonly remoteEnvironment: Readonly<Record<string, string>>;
  readonly #remoteFunction: IFunction | undefined;

  constructor(scope: Construct, id: string, given: AgentProps) {
    super(scope, id);
    this.agentName = given.agentName;
    this.remoteEnvironment = remoteEnvironment(given.agentName, given.remote, given.settings);
    this.#remoteFunction = given.settings.remoteFunction;
    const props = { ...given, environment: { ...given.environment, ...this.remoteEnvironment } };
    const { settings } = props;
    const maxConcurrency = settings.maxConcurrency ?? props.maxConcurrency;
    checkSettings(props.agentName, settings, maxConcurrency, props.runsIn);
    const inFunction = props.runsIn === undefined;
    this.maxConcurrency = inFunction ? maxConcurrency : 0;
    const timeout = inFunction ? functionTimeout(props.agentName, props.timeout) : props.timeout;
    const longest = settings.function instanceof LambdaFunction ? settings.function.timeout : undefined;
    this.deadLetterQueue = props.deadLetterQueue;
    this.queue = this.makeQueue(
      props,
      inFunction ? Duration.seconds((longest ?? timeout).toSeconds() * VISIBILITY_FACTOR) : WORKER_VISIBILITY,
    );
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
    this.grantRemote(this.function);
    this.grantPrincipal = this.function.grantPrincipal;
  }

  private makeQueue(
    { queueName, encryptionKey, deadLetterQueue }: AgentProps,
    visibilityTimeout: Duration,
  ): Queue {
    const queue = new Queue(this, 'Queue', {
      queueName,
      // Always deleted: its messages are hints, and its name has to be free for a deployment that comes
      // again.
      removalPolicy: RemovalPolicy.DESTROY,
      ...atRest(encryptionKey),
      visibilityTimeout,
      deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount: MAX_RECEIVES },
    });
    tagPart('agent', queue);
    return queue;
  }

  private makeContainer(props: AgentProps): AgentContainer | undefined {
    const { agentName, settings, logs } = props;
    const imageFolder = props.imageFolder();
    if (settings.container === undefined) {
      Validations.of(this).addWarning(
        'steadfast:noContainer',
        `agent '${agentName}' runs in a container, and this stack does not run it: set agentSettings['${agentName}'].container, or run it yourself with a role that you pass to steadfast.grantWork('${agentName}', …)`,
      );
      return undefined;
    }
    return new AgentContainer(this, 'Container', {
      agentName,
      settings: settings.container,
      imageFolder,
      environment: { ...settings.environment, ...props.environment },
      logs: atLevel(logs, settings),
      clusters: props.fleet,
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
      logs: atLevel(props.logs, props.settings),
      // One execution runs through agent after agent in one chain of messages; Lambda would cut it after 16.
      // The dispatch budget of each execution bounds it instead.
      recursiveLoop: RecursiveLoop.ALLOW,
      ...(props.tracing === undefined ? {} : { tracing: props.tracing }),
      ...(reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: reservedConcurrency }),
      ...(vpc === undefined ? {} : { vpc }),
      ...(vpcSubnets === undefined ? {} : { vpcSubnets }),
      ...(securityGroups === undefined ? {} : { securityGroups: [...securityGroups] }),
    });
  }

  /** Sending a message to this agent. */
  grantSend(grantee: IGrantable): Grant {
    return this.grantOnQueue(grantee, ['sqs:SendMessage']);
  }

  /** Taking its messages, as a worker does; `steadfast.grantWork` adds what the work itself needs. */
  grantWork(grantee: IGrantable): Grant {
    this.grantRemote(grantee);
    return this.grantOnQueue(grantee, WORK);
  }

  /** Invoking the function that does its work: this one as it is named, and not its other versions. */
  private grantRemote(grantee: IGrantable): void {
    if (this.#remoteFunction === undefined) return;
    const resourceArns = [this.#remoteFunction.functionArn];
    Grants.addToPrincipal({ grantee, actions: ['lambda:InvokeFunction'], resourceArns });
  }

  private grantOnQueue(grantee: IGrantable, actions: string[]): Grant {
    return Grants.addToPrincipal({ grantee, actions, resourceArns: [this.queue.queueArn] });
  }
}

const atRest = (key: IKey | undefined): Pick<QueueProps, 'encryption' | 'encryptionMasterKey'> =>
  key === undefined
    ? { encryption: QueueEncryption.SQS_MANAGED }
    : { encryption: QueueEncryption.KMS, encryptionMasterKey: key };

const atLevel = (logs: LogSettings, { logLevel }: AgentSettings): LogSettings =>
  logLevel === undefined ? logs : { ...logs, level: logLevel };

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
  /** What the deployment brings itself: none of the agents, but they send to them all. */
  readonly builtIn?: readonly AgentDeclaration[];
  readonly code: (agentName: string) => Code;
  /** The folder of the image of an agent that runs in a container. */
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
  /** Beside them, and counted among them nowhere. */
  readonly builtIn: ReadonlyMap<string, Agent>;

  /** What the names of its agents' queues begin with, and no other queue's. */
  readonly queuePrefix: string;

  constructor(scope: Construct, id: string, props: AgentFleetProps) {
    super(scope, id);
    const { agents, builtIn = [], code, imageFolder, settings, ...shared } = props;
    const names = [...agents, ...builtIn].map(({ name }) => name);
    const stranger = Object.keys(settings).find((name) => !names.includes(name));
    if (stranger !== undefined)
      throw new Error(
        `settings for an agent '${stranger}', which does not exist; there are ${names.join(', ')}`,
      );
    this.queuePrefix = queuePrefix(this);
    const deadLetterQueue = new Queue(this, 'DeadLetterQueue', {
      ...atRest(props.encryptionKey),
      retentionPeriod: Duration.days(14),
    });
    const made = (declared: readonly AgentDeclaration[]): ReadonlyMap<string, Agent> =>
      new Map(
        declared.map(({ name, timeoutMs, runsIn, remote }) => {
          const own = {
            agentName: name,
            queueName: `${this.queuePrefix}${name}`,
            timeout: Duration.millis(timeoutMs),
            ...(runsIn === undefined ? {} : { runsIn }),
            ...(remote === undefined ? {} : { remote }),
            code: () => code(name),
            imageFolder: () => imageFolder(name),
            settings: settings[name] ?? {},
            fleet: this,
            deadLetterQueue,
          };
          return [name, new Agent(this, name, { ...shared, ...own })];
        }),
      );
    this.agents = made(agents);
    this.builtIn = made(builtIn);
    this.refusePlainText([deadLetterQueue, ...this.all.map(({ queue }) => queue)]);
    for (const { name, peers } of agents) {
      const agent = this.agents.get(name);
      if (agent?.function !== undefined) this.allowSending(agent.function, peers);
      if (agent?.container === undefined) continue;
      for (const [variable, value] of Object.entries(this.grantSending(agent.container, peers)))
        agent.container.addEnvironment(variable, value);
    }
  }

  private get all(): readonly Agent[] {
    return [...this.agents.values(), ...this.builtIn.values()];
  }

  /**
   * One policy for all queues. CDK's `enforceSSL` makes one for each, which would be a fifth of a stack; each
   * queue takes `*` for itself.
   */
  private refusePlainText(queues: readonly Queue[]): void {
    const policy = new QueuePolicy(this, 'Policy', { queues: [...queues] });
    policy.document.addStatements(
      new PolicyStatement({
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        actions: ['sqs:*'],
        resources: ['*'],
        conditions: { Bool: { 'aws:SecureTransport': 'false' } },
      }),
    );
  }

  /** Lets a function send to these agents, and tells it which they are. */
  allowSending(sender: IFunction, names: readonly string[]): void {
    const known = names.filter((name) => this.agents.has(name));
    if (known.length <= MOST_NAMED) tell(sender, this.grantSending(sender, known));
    else this.allowAll(sender, ['sqs:SendMessage'], known);
  }

  /**
   * Lets a function send to all agents, and if it is to, ask how full their queues are. One line of a policy
   * for all of them, so that it neither grows nor changes with them: a send to an agent that is deployed no
   * more is answered so, and not as forbidden.
   */
  allowAll(
    sender: IFunction,
    actions: readonly string[] = ['sqs:SendMessage', 'sqs:GetQueueAttributes'],
    told: readonly string[] = [...this.agents.keys(), ...this.builtIn.keys()],
  ): void {
    const stack = Stack.of(this);
    const queues = stack.formatArn({ service: 'sqs', resource: `${this.queuePrefix}*` });
    Grants.addToPrincipal({
      grantee: sender,
      actions: [...actions],
      resourceArns: [queues],
    });
    if (sender.role !== undefined)
      Validations.of(sender.role).acknowledge({
        id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:sqs:<AWS::Region>:<AWS::AccountId>:${this.queuePrefix}*]`,
        reason: 'the queues of all agents of this deployment, and no others, have names with this prefix',
      });
    tell(sender, this.environmentFor(told));
  }

  /** @returns what the sender must find in its environment */
  grantSending(sender: IGrantable, names: readonly string[]): Readonly<Record<string, string>> {
    const known = names.filter((name) => this.agents.has(name));
    for (const name of known) this.agents.get(name)?.grantSend(sender);
    return this.environmentFor(known);
  }

  private environmentFor(names: readonly string[]): Readonly<Record<string, string>> {
    const { region, urlSuffix, account } = Stack.of(this);
    return {
      [ENV.queues]: `https://sqs.${region}.${urlSuffix}/${account}/${this.queuePrefix}`,
      [ENV.agents]: names.join(','),
    };
  }
}

function tell(sender: IFunction, environment: Readonly<Record<string, string>>): void {
  if (!(sender instanceof LambdaFunction)) return;
  for (const [name, value] of Object.entries(environment)) sender.addEnvironment(name, value);
}
