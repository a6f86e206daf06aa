/**
 * All agents of a deployment: one queue and one function each, and one dead-letter queue for all.
 *
 * Owns: the parts that agents share, and which function may send to which agent. Does not own: one agent
 * (`deployed-agent.ts`), the content of messages, the queues' names (`queue-names.ts`).
 *
 * A message is a hint, and the table decides, so a queue may lose, repeat or delay one. The dead-letter queue
 * is only evidence for people; each message in it names the queue that it came from. Agents share resources
 * where they can, because a stack has at most 500.
 */

import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { AnyPrincipal, Effect, Grant as Grants, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type Code, Function as LambdaFunction, type IFunction } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueuePolicy } from 'aws-cdk-lib/aws-sqs';
import { Duration, Stack, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { encryptedBy } from './queue-rules.ts';
import type { SharedSettings } from './function.ts';
import { defined } from '../core/values/defined.ts';
import { ENV } from '../aws/names.ts';
import type { AgentSettings } from './agent-settings.ts';
import { AgentHost } from './agent-hosts.ts';
import { AgentFunction, functionTimeout } from './deployed-agent.ts';
import type { DeclaredWork } from './discovery.ts';
import { queuePrefix } from './queue-names.ts';

/**
 * The most queues that a function's policy names one by one. A longer list becomes a policy of its own,
 * another resource for each agent.
 */
const MOST_NAMED = 30;

/** The parts of an agent that the fleet needs. */
export interface AgentDeclaration {
  readonly name: string;
  readonly timeoutMs: number;
  /** Set for an agent that must not act twice and has no probe. */
  readonly isUnsafe?: true;
  /** Absent for an agent in a function. */
  readonly runsIn?: 'container';
  /** Absent if the agent's file contains the code. */
  readonly remote?: 'lambda' | 'url' | 'command';
  /** Set if the agent has no code: its work is declared, as in `httpAgent`. */
  readonly declared?: DeclaredWork;
  /** The agents to which it may have to send, itself included. */
  readonly peers: readonly string[];
}

export interface AgentFleetProps extends SharedSettings {
  readonly agents: readonly AgentDeclaration[];
  /** Agents that the deployment adds itself. No other agent sends to them, and they send to all. */
  readonly builtIn?: readonly AgentDeclaration[];
  readonly code: (agentName: string) => Code;
  /** The folder of the image of an agent that runs in a container. */
  readonly imageFolder: (agentName: string) => string | undefined;
  readonly maxConcurrency: number;
  readonly encryptionKey?: IKey;
  /** By agent name. */
  readonly settings: Readonly<Record<string, AgentSettings>>;
  /** By host: the names of its agents. */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  readonly hostCode: (host: string) => Code;
}

/** All agents of a deployment. */
export class AgentFleet extends Construct {
  readonly agents: ReadonlyMap<string, AgentFunction>;
  /** The agents that the deployment adds itself; no count includes them. */
  readonly builtIn: ReadonlyMap<string, AgentFunction>;

  /** The prefix of the names of its agents' queues, which no other queue has. */
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
      ...encryptedBy(props.encryptionKey),
      retentionPeriod: Duration.days(14),
    });
    const hostOf = this.makeHosts(props);
    const made = (declared: readonly AgentDeclaration[]): ReadonlyMap<string, AgentFunction> =>
      new Map(
        declared.map(({ name, timeoutMs, runsIn, remote, declared: work }) => {
          const own = {
            agentName: name,
            queueName: `${this.queuePrefix}${name}`,
            timeout: Duration.millis(timeoutMs),
            ...defined({ runsIn, remote, declared: work }),
            code: () => code(name),
            imageFolder: () => imageFolder(name),
            settings: settings[name] ?? {},
            ...hostOf.get(name),
            fleet: this,
            deadLetterQueue,
          };
          return [name, new AgentFunction(this, name, { ...shared, ...own })];
        }),
      );
    this.agents = made(agents);
    this.builtIn = made(builtIn);
    this.refusePlainText([deadLetterQueue, ...this.all.map(({ queue }) => queue)]);
    const peersOf = new Map<IFunction, Set<string>>();
    for (const { name, peers } of agents) {
      const agent = this.agents.get(name);
      if (agent?.function !== undefined)
        peersOf.set(agent.function, new Set([...(peersOf.get(agent.function) ?? []), ...peers]));
      if (agent?.container === undefined) continue;
      for (const [variable, value] of Object.entries(this.grantSending(agent.container, peers)))
        agent.container.addEnvironment(variable, value);
    }
    for (const [sender, peers] of peersOf) this.allowSending(sender, [...peers]);
  }

  /** @returns by agent, the function that it shares with others */
  private makeHosts({
    hosts,
    hostCode,
    agents,
    settings,
    ...shared
  }: AgentFleetProps): ReadonlyMap<string, { readonly host: AgentHost }> {
    return new Map(
      [...hosts].flatMap(([host, names]) => {
        const members = agents
          .filter(({ name }) => names.includes(name))
          .map(({ name, timeoutMs, isUnsafe = false, declared }) => ({
            name,
            timeout: functionTimeout(name, Duration.millis(timeoutMs)),
            settings: settings[name] ?? {},
            isUnsafe,
            isDeclared: declared !== undefined,
            maxConcurrency: settings[name]?.maxConcurrency ?? shared.maxConcurrency,
          }));
        const props = { ...shared, members, code: hostCode(host) };
        const made = { host: new AgentHost(this, `Host-${host}`, host, props) };
        return names.map((name) => [name, made] as const);
      }),
    );
  }

  /** An agent of an author. @throws Error whose message names the agents that exist */
  named(name: string): AgentFunction {
    const agent = this.agents.get(name);
    if (agent !== undefined) return agent;
    throw new Error(`no agent is named '${name}'; there are ${[...this.agents.keys()].join(', ')}`);
  }

  private get all(): readonly AgentFunction[] {
    return [...this.agents.values(), ...this.builtIn.values()];
  }

  /**
   * One policy for all queues. CDK's `enforceSSL` makes one for each queue, which would be a fifth of a
   * stack. In a queue's policy, `*` means that queue.
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

  /** Lets a function send to these agents, and puts their names into its environment. */
  allowSending(sender: IFunction, names: readonly string[]): void {
    const known = names.filter((name) => this.agents.has(name));
    if (known.length <= MOST_NAMED) tell(sender, this.grantSending(sender, known));
    else this.allowAll(sender, ['sqs:SendMessage'], known);
  }

  /**
   * Lets a function send to all agents and, if needed, read how full their queues are. One policy line covers
   * all of them, so it does not change with the agents, and a send to a removed agent fails with "no such
   * queue" instead of "forbidden".
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

  /** @returns variables for the sender's environment */
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
