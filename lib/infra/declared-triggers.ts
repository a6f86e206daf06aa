/**
 * Adds the triggers that authors declare beside their workflows to a stack.
 *
 * Owns: which bucket or bus a name stands for, how a schedule is written, and the file named in every
 * refusal. Does not own: the resources of a trigger (`triggers.ts`), the search for them (`discover.ts`).
 */

import type { EventPattern, IEventBus } from 'aws-cdk-lib/aws-events';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { TimeZone } from 'aws-cdk-lib/core';
import type { DeclaredTrigger } from '../author/triggers/trigger-declaration.ts';
import type { FoundTrigger } from './discovery.ts';
import { DiscoveryError } from './discovery.ts';
import type { StartQueue } from './start-queue.ts';
import type { BucketReference, Triggers } from './triggers.ts';

/** The buckets and buses of this stack that declarations name. */
export interface TriggerSources {
  /**
   * For triggers beside workflows: the bucket for each name.
   * @default - none
   */
  readonly buckets?: Readonly<Record<string, BucketReference>>;
  /**
   * For triggers beside workflows: the bus for each name.
   * @default - none
   */
  readonly eventBuses?: Readonly<Record<string, IEventBus>>;
}

/** @throws DiscoveryError that names the file and its export */
export function addDeclared(
  triggers: Triggers,
  found: readonly FoundTrigger[],
  sources: TriggerSources,
): void {
  for (const { file, exportName, trigger } of found) {
    try {
      add(triggers, trigger, sources);
    } catch (error) {
      throw new DiscoveryError(`${file}, ${exportName}: ${(error as Error).message}`, { cause: error });
    }
  }
}

function add(
  triggers: Triggers,
  { workflow, ...declared }: DeclaredTrigger,
  sources: TriggerSources,
): StartQueue {
  switch (declared.on) {
    case 'object': {
      const { bucket, ...props } = declared.options;
      return triggers.onObjectCreated(named('buckets', bucket, sources.buckets), workflow, props);
    }
    case 'event': {
      const { pattern, bus, ...props } = declared.options;
      const eventBus = bus === undefined ? {} : { eventBus: named('eventBuses', bus, sources.eventBuses) };
      return triggers.onEvent(pattern as EventPattern, workflow, { ...props, ...eventBus });
    }
    case 'schedule': {
      const { schedule, timeZone, ...props } = declared.options;
      const zone = timeZone === undefined ? undefined : TimeZone.of(timeZone);
      return triggers.onSchedule(ScheduleExpression.expression(schedule, zone), workflow, props);
    }
    case 'message':
      return triggers.onMessage(workflow, declared.options);
    case 'webhook':
      return triggers.onWebhook(workflow, declared.options);
  }
}

function named<One>(prop: keyof TriggerSources, name: string, all: Readonly<Record<string, One>> = {}): One {
  const one = Object.hasOwn(all, name) ? all[name] : undefined;
  if (one !== undefined) return one;
  const there = Object.keys(all);
  throw new Error(
    `it listens to '${name}', which the stack does not define: new Steadfast(…, { ${prop}: { ${JSON.stringify(name)}: … } })${there.length === 0 ? '' : `; there are ${there.join(', ')}`}`,
  );
}
