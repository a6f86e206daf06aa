/** Every row of docs/not-verified.md. */

import type { Entry } from '../check.ts';
import { ALARMS } from './alarms.ts';
import { BY_HAND } from './by-hand.ts';
import { DEPLOYMENTS } from './deployments.ts';
import { GAME_DAY } from './game-day.ts';
import { LONG } from './long.ts';
import { PREFLIGHT } from './preflight.ts';
import { SETTINGS } from './settings.ts';
import { SMOKE } from './smoke.ts';
import { TRACES } from './traces.ts';
import { TRIGGERS } from './triggers.ts';

export const ENTRIES: readonly Entry[] = [
  ...PREFLIGHT,
  ...SETTINGS,
  ...SMOKE,
  ...TRIGGERS,
  ...TRACES,
  ...GAME_DAY,
  ...ALARMS,
  ...LONG,
  ...DEPLOYMENTS,
  ...BY_HAND,
];
