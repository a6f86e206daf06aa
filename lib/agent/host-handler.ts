/**
 * The Lambda function of several agents, each behind its own queue.
 *
 * Owns: finding a record's agent, when an agent's module is loaded and how long that may take, and what its
 * agents share: ports, plans, evaluations under way. Does not own: an agent's worker (`handler.ts`), carrying
 * on (`carry-on.ts`), which agents share a function (`infra/agent-hosts.ts`).
 *
 * A module that does not load stops only its own agent: that agent's messages go back to its queue, and no
 * attempt is charged.
 */

import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { clock } from '../aws/clock.ts';
import { metering, once } from '../aws/invocation.ts';
import { ENV, type HostSettings } from '../aws/names.ts';
import { callingPortsOf, namedAs, type OwnPorts, type Telemetry, telemetryOf } from '../aws/ports.ts';
import { tellExit } from '../aws/telemetry.ts';
import type { Ports } from '../core/ports.ts';
import { sayable } from '../core/values/errors.ts';
import { defined } from '../core/values/defined.ts';
import { perSecondOf } from '../core/values/rate.ts';
import type { PlanCache } from '../engine/plans.ts';
import { handleAndCarryOn } from './carry-on.ts';
import { type AgentHandler, handleBatch, handleRecord, handlerOfFile } from './handler.ts';
import type { HostedAgent, Neighbours } from './kept-message.ts';
import { Latch } from './latch.ts';
import { ProcessRate } from './process-rate.ts';
import { SingleFlight } from './single-flight.ts';

/** Each agent's file, by agent. */
type Modules = Readonly<Record<string, () => Promise<{ readonly handler: AgentHandler }>>>;
type Member = HostedAgent & { readonly telemetry: Telemetry };
type Handler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

/** The time that Lambda gives a function to initialise. */
const LOAD_WITHIN_MS = 10_000;

export function hostHandler(modules: Modules): Handler {
  const text = process.env[ENV.hosted];
  const settings: HostSettings = text === undefined ? { carries: [], rates: {} } : JSON.parse(text);
  const telemetry = telemetryOf({ role: 'agent' });
  const members = new Members(modules, settings, telemetry);
  const plans: PlanCache = new Map();
  const handle = async (
    record: SQSRecord,
    deadline: () => number,
    enter: (member: Member) => Member,
    isAlone: boolean,
  ): Promise<'handled' | 'give-back'> => {
    const name = agentOf(record, Object.keys(modules));
    if (name === undefined) return 'give-back';
    const member = await members.of(name).catch((error: unknown) => {
      telemetry.logger.error('agent-not-loaded', { agent: name, error: sayable(error) });
    });
    if (member === undefined) return 'give-back';
    const neighbours = members.neighbours(isAlone, enter);
    return await handleRecord(record, enter(member).telemetry, (message) =>
      members.atWork(() => handleAndCarryOn(member, plans, message, deadline, neighbours)),
    );
  };
  return (event, context) =>
    metering(telemetry, context, async () => {
      const entered = new Set<Telemetry>();
      const enter = (member: Member): Member => {
        const { logger } = member.telemetry;
        if (!entered.has(member.telemetry)) {
          entered.add(member.telemetry);
          logger.addContext(context);
          logger.refreshSampleRateCalculation();
        }
        return member;
      };
      const isAlone = event.Records.length === 1;
      try {
        return await handleBatch(event, context, (record, deadline) =>
          handle(record, deadline, enter, isAlone),
        );
      } finally {
        for (const { meter } of entered) meter.flush();
      }
    });
}

/** The agents of a process, each with a worker of its own. */
export class Members {
  readonly #modules: Modules;
  readonly #settings: HostSettings;
  readonly #sleep: Ports['clock']['sleep'];
  readonly #ports: () => OwnPorts;
  readonly #atWork = { messages: 0 };
  readonly #singleFlight = new SingleFlight(this.#atWork);
  readonly #loaded = new Map<string, Promise<Member>>();
  readonly #members: Pick<Member, 'worker' | 'telemetry'>[] = [];

  constructor(
    modules: Modules,
    settings: HostSettings,
    telemetry: Telemetry,
    sleep: Ports['clock']['sleep'] = clock.sleep,
  ) {
    this.#sleep = sleep;
    this.#modules = modules;
    this.#settings = settings;
    this.#ports = once(() => {
      process.once('exit', (code) => {
        for (const { worker, telemetry: own } of this.#members) tellExit(own.logger, code, worker.underWay);
      });
      return callingPortsOf(telemetry, this.#atWork);
    });
  }

  /** Loads an agent. @throws the module's error, the same each time: Node loads a module only once */
  of(name: string): Promise<Member> {
    const known = this.#loaded.get(name);
    if (known !== undefined) return known;
    const loading = this.#load(name);
    this.#loaded.set(name, loading);
    return loading;
  }

  /**
   * The agents for which this process may keep a message. @param isAlone false for one message of several: it
   * would delay the acknowledgement of the others
   */
  neighbours(isAlone: boolean, enter: (member: Member) => Member): Neighbours {
    const { carries, longestMs } = this.#settings;
    return {
      has: (agent) => isAlone && carries.includes(agent),
      of: async ({ agent }) => enter(await this.of(agent)),
      ...defined({ longestMs }),
    };
  }

  async atWork<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#atWork.messages += 1;
    try {
      return await work();
    } finally {
      this.#atWork.messages -= 1;
    }
  }

  async #load(name: string): Promise<Member> {
    const module = this.#modules[name];
    if (module === undefined) throw new Error(`no agent '${name}' is in this function`);
    const isLoaded = new Latch();
    const late = this.#sleep(LOAD_WITHIN_MS, isLoaded).then(() => 'late' as const);
    try {
      const loaded = await Promise.race([module(), late]);
      if (loaded !== 'late') return this.#memberOf(name, handlerOfFile(name, loaded.handler));
    } finally {
      isLoaded.end();
    }
    // The next message awaits the same import.
    this.#loaded.delete(name);
    throw new Error(`the module of agent '${name}' did not load within ${LOAD_WITHIN_MS / 1_000} s`);
  }

  #memberOf(name: string, { worker: own, telemetry }: AgentHandler): Member {
    const rate = this.#settings.rates[name];
    const worker = {
      ...own,
      singleFlight: this.#singleFlight,
      ...(rate === undefined ? {} : { rate: new ProcessRate(name, perSecondOf(rate)) }),
    };
    this.#members.push({ worker, telemetry });
    return { worker, telemetry, ports: namedAs(this.#ports(), telemetry) };
  }
}

/**
 * Finds the agent of a queue: the queue's name ends with the agent's, after a prefix that all queues share.
 */
function agentOf({ eventSourceARN }: SQSRecord, agents: readonly string[]): string | undefined {
  const queue = eventSourceARN.slice(eventSourceARN.lastIndexOf(':') + 1);
  const queues = process.env[ENV.queues] ?? '';
  const prefix = queues.slice(queues.lastIndexOf('/') + 1);
  return agents.find((name) => queue === `${prefix}${name}`);
}
