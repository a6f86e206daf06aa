/**
 * The scenes in which processes of the real engine take turns: lanes, rounds and messages.
 *
 * Owns: the list of scenes, and their size. Does not own: the search (`schedules.ts`).
 */

import type { RunResult } from '../run.ts';
import { laneScene } from './lane.ts';
import { mailScene } from './mail.ts';
import { PLANTS } from './plants.ts';
import { roundsScene } from './rounds.ts';
import { exploreScene, type Planted, type Scene } from './schedules.ts';

const NO_LANE_FAULT = { overtakings: 0, kills: 0, retries: 0 };
const NO_ROUND_FAULT = { overtakings: 0, kills: 0, cancels: 0, failures: 0, retries: 0 };
const NO_MAIL_FAULT = { overtakings: 0, kills: 0, retries: 0, again: 0 };

/** They close within seconds. */
export const SMALL_SCENES: Readonly<Record<string, () => Scene>> = {
  'lane-in-turn': () => laneScene({ ...NO_LANE_FAULT, atMost: 2, executions: 3 }),
  'lane-overtaken': () => laneScene({ ...NO_LANE_FAULT, atMost: 1, executions: 2, overtakings: 1 }),
  'rounds-stopped': () => roundsScene({ ...NO_ROUND_FAULT, cancels: 1, failures: 1, retries: 1 }),
  'mail-in-turn': () => mailScene({ ...NO_MAIL_FAULT, takenBy: 'steps', again: 1 }),
  'mail-killed': () => mailScene({ ...NO_MAIL_FAULT, takenBy: 'steps', kills: 1 }),
};

export const SCENES: Readonly<Record<string, () => Scene>> = {
  ...SMALL_SCENES,
  'lane-of-two': () => laneScene({ ...NO_LANE_FAULT, atMost: 2, executions: 3, kills: 1, retries: 1 }),
  'lane-killed': () => laneScene({ ...NO_LANE_FAULT, atMost: 2, executions: 3, kills: 1 }),
  'lane-of-two-overtaken': () => laneScene({ ...NO_LANE_FAULT, atMost: 2, executions: 3, overtakings: 1 }),
  'lane-killed-overtaken': () =>
    laneScene({ ...NO_LANE_FAULT, atMost: 1, executions: 2, overtakings: 1, kills: 1 }),
  'rounds-killed': () => roundsScene({ ...NO_ROUND_FAULT, kills: 1, cancels: 1, failures: 1, retries: 1 }),
  'rounds-overtaken': () => roundsScene({ ...NO_ROUND_FAULT, overtakings: 1, cancels: 1 }),
  'mail-killed-again': () =>
    mailScene({ ...NO_MAIL_FAULT, takenBy: 'steps', kills: 1, retries: 1, again: 1 }),
  'mail-killed-overtaken': () =>
    mailScene({ ...NO_MAIL_FAULT, takenBy: 'steps', overtakings: 1, kills: 1, retries: 1 }),
  'mail-to-rounds': () => mailScene({ ...NO_MAIL_FAULT, takenBy: 'rounds', retries: 1, again: 1 }),
  'mail-to-rounds-killed': () => mailScene({ ...NO_MAIL_FAULT, takenBy: 'rounds', kills: 1, retries: 1 }),
  'mail-to-rounds-overtaken': () =>
    mailScene({ ...NO_MAIL_FAULT, takenBy: 'rounds', overtakings: 1, retries: 1 }),
};

const asItIs: Planted = (ports) => ports;

/** @param without the name of a plant */
export async function runScene(name: string, maxStates: number, without?: string): Promise<RunResult> {
  const startedAt = Date.now();
  const make = SCENES[name];
  if (make === undefined) throw new Error(`there is no scene '${name}'`);
  const { plant = asItIs } = without === undefined ? {} : (PLANTS[without as keyof typeof PLANTS] ?? {});
  const explored = await exploreScene(make, plant, { maxStates, firstOnly: plant !== asItIs });
  return { name, ...explored, seconds: (Date.now() - startedAt) / 1_000 };
}
