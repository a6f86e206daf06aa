/** Every row of docs/not-verified.md, in the order of its areas. */

import type { Entry } from '../check.ts';
import { SETTINGS } from './settings.ts';
import { SMOKE } from './smoke.ts';
import { TRACES } from './traces.ts';
import { TRIGGERS } from './triggers.ts';

export const ENTRIES: readonly Entry[] = [...SETTINGS, ...SMOKE, ...TRIGGERS, ...TRACES];
