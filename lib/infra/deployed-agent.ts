/**
 * One agent of a deployment: its queue, and the function or container that takes its messages.
 *
 * Owns: the settings of both, and who may send to it or work for it. Does not own: the shared parts of agents
 * (`agent-fleet.ts`), which settings there are (`agent-settings.ts`), the queues' names (`queue-names.ts`).
 */

import {
  type Grant,
  Grant as Grants,
  type IGrantable,
  type IPrincipal,
  UnknownPrincipal,
} from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type Code, Function as LambdaFunction, type IFunction, RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Duration, Names, RemovalPolicy, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { encryptedBy } from './queue-rules.ts';
import { defined } from '../core/values/defined.ts';
import { ENV } from '../aws/names.ts';
import { AgentContainer } from './agent-container.ts';
import { adopt, type AgentSettings, checkSettings, remoteEnvironment } from './agent-settings.ts';
import type { AgentHost } from './agent-hosts.ts';
import type { DeclaredWork } from './discovery.ts';
import { addFunction, type LogSettings, type SharedSettings } from './function.ts';
import { grantSecret } from './grant-secret.ts';

/** The function's time beyond the author's limit, for the abort, the report and a cold start. */
const SPARE_SECONDS = 15;
const LONGEST_SECONDS = 900;
/**
 * AWS recommends six times the function's timeout, so that throttled polls do not return a message that is
 * being processed.
 */
const VISIBILITY_FACTOR = 6;
/**
 * The receives after which a message is a dead letter. A poll may take a message without running the
 * function, so fewer would count good messages as poison.
 */
const MAX_RECEIVES = 5;

/** Lambda's own actions on a queue, with the function's role. */
const CONSUME = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];
/** The actions of a worker, which extends the visibility timeout of its messages. */
const WORK = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility'];
/** The queue's default for a worker, which sets its own timeout for each message. */
const WORKER_VISIBILITY = Duration.minutes(1);

type Secret = NonNullable<DeclaredWork['secret']>;

export interface AgentProps extends SharedSettings {
  readonly agentName: string;
  readonly queueName: string;
  /** The longest time of one attempt. */
  readonly timeout: Duration;
  readonly runsIn?: 'container';
  readonly remote?: 'lambda' | 'url' | 'command';
  /** The work, if it is entirely declared. */
  readonly declared?: DeclaredWork;
  readonly code: () => Code;
  /** The folder of the image of an agent in a container; undefined if the stack needs no code. */
  readonly imageFolder: () => string | undefined;
  /** The most messages processed at the same time, 2 to 1000. */
  readonly maxConcurrency: number;
  readonly encryptionKey?: IKey;
  /** Settings of this agent. */
  readonly settings: AgentSettings;
  /** The function that it shares with other agents. @default - it has its own */
  readonly host?: AgentHost;
  /** The construct that contains what agents share. */
  readonly fleet: Construct;
  /** The dead-letter queue of all agents. */
  readonly deadLetterQueue: Queue;
}

/**
 * One agent of a deployment: its queue, and the function or container that performs it. Grant it the access
 * that its external service needs: `secret.grantRead(steadfast.agent('charge-card'))`.
 */
export class AgentFunction extends Construct implements IGrantable {
  readonly agentName: string;
  /**
   * The most messages that are processed at the same time; 0 for an agent in a container, whose messages
   * Lambda does not poll.
   */
  readonly maxConcurrency: number;
  readonly queue: Queue;
  /** The dead-letter queue that all agents share. */
  readonly deadLetterQueue: Queue;
  /** Its function; undefined for an agent in a container. */
  readonly function?: IFunction;
  /** The service that runs it; undefined for an agent in a function, or in a container of your own. */
  readonly container?: AgentContainer;
  /** The log group of its function or container; undefined for a function of your own, which has its own. */
  readonly logGroup?: ILogGroup;
  readonly grantPrincipal: IPrincipal;
  /** Variables of this agent only: its rate, and the target of its work in another language. */
  readonly ownEnvironment: Readonly<Record<string, string>>;
  readonly #remoteFunction: IFunction | undefined;

  constructor(scope: Construct, id: string, given: AgentProps) {
    super(scope, id);
    this.agentName = given.agentName;
    this.#remoteFunction = given.settings.remoteFunction;
    const { rate } = given.settings;
    this.ownEnvironment = {
      ...remoteEnvironment(given.agentName, given.remote, given.settings),
      ...(rate === undefined ? {} : { [ENV.rate]: rate }),
    };
    const props = { ...given, environment: { ...given.environment, ...this.ownEnvironment } };
    const { settings } = props;
    const maxConcurrency = settings.maxConcurrency ?? props.maxConcurrency;
    checkSettings(props.agentName, settings, maxConcurrency, props);
    const inFunction = props.runsIn === undefined;
    this.maxConcurrency = inFunction ? maxConcurrency : 0;
    const timeout = inFunction ? functionTimeout(props.agentName, props.timeout) : props.timeout;
    const shared = props.host?.function ?? settings.function;
    const longest = shared instanceof LambdaFunction ? shared.timeout : undefined;
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
    if (props.host !== undefined) {
      this.function = props.host.function as IFunction;
      this.logGroup = props.host.function.logGroup;
    } else if (settings.function === undefined) {
      const made = this.makeFunction(props, timeout);
      // The class declares an optional member differently from its interface (exactOptionalPropertyTypes).
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
    this.grantPrincipal = props.host?.principalOf(this.agentName) ?? this.function.grantPrincipal;
    if (props.declared?.secret !== undefined) this.grantSecret(props.declared.secret, props.settings);
  }

  private makeQueue(
    { queueName, encryptionKey, deadLetterQueue }: AgentProps,
    visibilityTimeout: Duration,
  ): Queue {
    const queue = new Queue(this, 'Queue', {
      queueName,
      // Always deleted: its messages are hints, and its name must be free for a later deployment.
      removalPolicy: RemovalPolicy.DESTROY,
      ...encryptedBy(encryptionKey),
      visibilityTimeout,
      deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount: MAX_RECEIVES },
    });
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
      // One execution runs through agent after agent in one chain of messages, which Lambda would stop after
      // 16. The chain has other limits: an agent sends only messages about successors of its own step (S16),
      // and attempts are counted, except those that another agent's death interrupted.
      recursiveLoop: RecursiveLoop.ALLOW,
      ...defined({
        tracing: props.tracing,
        reservedConcurrentExecutions: reservedConcurrency,
        vpc,
        vpcSubnets,
        securityGroups: securityGroups && [...securityGroups],
      }),
    });
  }

  /** Lets a grantee send messages to this agent. */
  grantSend(grantee: IGrantable): Grant {
    return this.grantOnQueue(grantee, ['sqs:SendMessage']);
  }

  /**
   * Lets a grantee take its messages, as a worker does; `steadfast.grantWork` adds what the work itself
   * needs.
   */
  grantWork(grantee: IGrantable): Grant {
    this.grantRemote(grantee);
    return this.grantOnQueue(grantee, WORK);
  }

  /** Lets a grantee invoke the function that does the agent's work, in the named version only. */
  private grantRemote(grantee: IGrantable): void {
    if (this.#remoteFunction === undefined) return;
    const resourceArns = [this.#remoteFunction.functionArn];
    Grants.addToPrincipal({ grantee, actions: ['lambda:InvokeFunction'], resourceArns });
  }

  /**
   * Lets a grantee read the secret that its declaration sends, and no other. If a key of your own encrypts
   * the secret, grant that as well.
   * @throws Error if no setting of the deployment names the secret
   */
  private grantSecret(secret: Secret, { environment, ...own }: AgentSettings): void {
    if (environment?.[secret.env] !== undefined || own.function !== undefined) return;
    const orElse = `, or set agentSettings['${this.agentName}'].environment`;
    grantSecret(this, this, { secret, whose: `agent '${this.agentName}'`, orElse });
  }

  private grantOnQueue(grantee: IGrantable, actions: string[]): Grant {
    return Grants.addToPrincipal({ grantee, actions, resourceArns: [this.queue.queueArn] });
  }
}

const atLevel = (logs: LogSettings, { logLevel }: AgentSettings): LogSettings =>
  logLevel === undefined ? logs : { ...logs, level: logLevel };

export function functionTimeout(agentName: string, attempt: Duration): Duration {
  const seconds = Math.ceil(attempt.toMilliseconds() / 1_000) + SPARE_SECONDS;
  if (seconds > LONGEST_SECONDS) {
    throw new Error(
      `agent '${agentName}': a timeout of ${attempt.toSeconds({ integral: false })} s is too long for a Lambda function; at most ${LONGEST_SECONDS - SPARE_SECONDS} s are allowed`,
    );
  }
  return Duration.seconds(seconds);
}
