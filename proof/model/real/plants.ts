/**
 * Ports that break one rule of the engine each, to show what would go wrong without it. If a search finds
 * nothing with such ports, the search is blind, or the rule is not needed.
 */

import type { Ports } from '../../../lib/core/ports.ts';
import { isTerminal } from '../../../lib/core/records/state.ts';
import type { Planted } from './schedules.ts';

const wrap = <Port extends object>(port: Port, changes: Partial<Port>): Port =>
  new Proxy(port, {
    get: (target, key) => Reflect.get(changes, key) ?? Reflect.get(target, key),
  });

/** Two processes that have read the same lane both write it. */
const unconditional: Planted = (ports) => {
  const { lanes } = ports;
  if (lanes === undefined) return ports;
  const writeLane: typeof lanes.writeLane = async (record) => {
    for (;;) {
      const before = await lanes.readLane(record.lane);
      const { life = record.life, version = 0 } = before ?? {};
      const result = await lanes.writeLane({ ...record, life, version: version + 1 });
      if (result !== 'conflict') return result;
    }
  };
  return { ...ports, lanes: wrap(lanes, { writeLane }) };
};

/** A place is free as soon as its holder's own record is written. */
const hasty: Planted = (ports) => {
  const readExecution: Ports['store']['readExecution'] = async (id) => {
    const found = await ports.store.readExecution(id);
    return found?.lane?.admitted === found?.epoch && found !== undefined
      ? { ...found, status: 'succeeded' }
      : found;
  };
  return { ...ports, store: wrap(ports.store, { readExecution }) };
};

/** An ended execution keeps no wake time, so no process comes back to hand its place on. */
const forgotten: Planted = (ports) => {
  const write: Ports['store']['write'] = (given) => {
    const { execution } = given;
    if (execution === undefined || !isTerminal(execution.status)) return ports.store.write(given);
    const { wakeAt: _, ...rest } = execution;
    return ports.store.write({ ...given, execution: rest });
  };
  return { ...ports, store: wrap(ports.store, { write }) };
};

/** A stop leaves the place of a round that does not exist. */
const placeless: Planted = (ports) => {
  const create: Ports['store']['create'] = (execution, ...rest) =>
    execution.status === 'canceled' ? Promise.resolve('written') : ports.store.create(execution, ...rest);
  return { ...ports, store: wrap(ports.store, { create }) };
};

/** A process that has read a step writes it, whatever has been written since. */
const overwriting: Planted = (ports) => {
  const write: Ports['store']['write'] = async (given) => {
    const before = await ports.store.read(given.executionId);
    const { execution, step } = given;
    const versionOf = (known: number | undefined): number => (known ?? 0) + 1;
    return ports.store.write({
      ...given,
      ...(execution && { execution: { ...execution, version: versionOf(before?.execution.version) } }),
      ...(step && { step: { ...step, version: versionOf(before?.steps[step.name]?.version) } }),
    });
  };
  return { ...ports, store: wrap(ports.store, { write }) };
};

/** A mailbox has no wake time: only the sender evaluates the execution. */
const unwoken: Planted = (ports) => {
  const { mailboxes } = ports;
  if (mailboxes === undefined) return ports;
  const accept: typeof mailboxes.accept = (mailbox, message) => {
    const { wakeAt: _, ...rest } = mailbox;
    return mailboxes.accept(rest, message);
  };
  return { ...ports, mailboxes: wrap(mailboxes, { accept }) };
};

/** A process that has read a mailbox takes a message from it, whatever has been sent since. */
const overtaking: Planted = (ports) => {
  const { mailboxes } = ports;
  const write: Ports['store']['write'] = async (given) => {
    const { taken } = given;
    if (taken === undefined) return ports.store.write(given);
    const { executionId, life } = taken.mailbox;
    const { version = 0 } = (await mailboxes?.readMailbox(executionId, life)) ?? {};
    const mailbox = { ...taken.mailbox, version: version + 1 };
    return ports.store.write({ ...given, taken: { ...taken, mailbox } });
  };
  return { ...ports, store: wrap(ports.store, { write }) };
};

/** @property run the scene in which it is found */
export const PLANTS = {
  laneVersion: {
    rule: 'a lane is written on the version that was read',
    run: 'lane-overtaken',
    plant: unconditional,
  },
  laneEnd: { rule: 'a place is free after the end of its holder', run: 'lane-in-turn', plant: hasty },
  laneLeft: {
    rule: 'an ended execution is woken until its place is handed on',
    run: 'lane-killed',
    plant: forgotten,
  },
  roundPlace: {
    rule: 'a stop takes the place of a round that does not exist',
    run: 'rounds-overtaken',
    plant: placeless,
  },
  roundVersion: {
    rule: 'a round is recorded on the version that was read',
    run: 'rounds-overtaken',
    plant: overwriting,
  },
  mailWake: { rule: 'a message that was sent has a wake time', run: 'mail-killed', plant: unwoken },
  mailVersion: {
    rule: 'a message is taken on the mailbox that was read',
    run: 'mail-killed-overtaken',
    plant: overtaking,
  },
} as const satisfies Readonly<
  Record<string, { readonly rule: string; readonly run: string; readonly plant: Planted }>
>;
