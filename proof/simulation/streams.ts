/**
 * The effects of a world's traits: the random stream of each trait that has its own, and the frequent faults.
 *
 * Owns: the streams, which are independent of each other. Does not own: which traits a world has
 * (`traits.ts`), what each does.
 */

import { seededRandom } from '../../lib/memory/world.ts';
import { ACCEPTANCE_RATES } from './acceptance.ts';
import { BulkWorld } from './bulk-world.ts';
import { Cast } from './cast.ts';
import { CONTAINER_RATES, Running } from './containers.ts';
import type { Emphasis } from './emphasis.ts';
import { eraserOf } from './erasers.ts';
import { GROUP_RATES } from './groups.ts';
import { ON_FAILURE_RATES } from './on-failure.ts';
import { type Choice, choiceOf } from './plans.ts';
import type { Host } from './process.ts';
import { LANE_RATES } from './lanes.ts';
import { PAUSE_RATES } from './whole-pauses.ts';
import { ROUND_RATES } from './rounds.ts';
import { STAGE_RATES } from './stages.ts';
import { TOLERANCE_RATES } from './tolerance.ts';
import type { Traits } from './traits.ts';

/** Streams other than the world's own. */
const TOLERANCE_STREAM = 0x70_1e_ca_7e;
const CAST_STREAM = 0x0f_0c_e7_e5;
const TIMES_STREAM = 0x0d_ea_d1_1e;
const GROUP_STREAM = 0x6_70_0b_5a;
const ON_FAILURE_STREAM = 0x0f_0a_11_ed;
const STAGE_STREAM = 0x57_a6_e5;
const CONTAINER_STREAM = 0xc0_47_a1_4e;
const PAUSE_STREAM = 0x0a_05_ed_5e;
const ANSWER_STREAM = 0x0b_ad_a4_55;
const REMINDER_STREAM = 0x4e_31_3d_e4;
const PROBE_STREAM = 0x09_40_be_5d;
const BEAT_STREAM = 0x0b_ea_75_11;
const WAIT_STREAM = 0x05_40_47_3a;
const BULK_STREAM = 0x0b_01_4d_1c;
const ROUND_STREAM = 0x40_07_0d_55;
const ACCEPTANCE_STREAM = 0x0a_cc_e9_7d;
const LANE_STREAM = 0x01_a4_e5_00;
const JUMP_STREAM = 0x0c_10_c4_50;
const MAIL_STREAM = 0x0_a1_1b_0c;
const RARE_STREAM = 0x0_4a_4e_05;

type Streams = Pick<
  Host,
  | 'tolerance'
  | 'cast'
  | 'times'
  | 'groups'
  | 'onFailure'
  | 'stages'
  | 'containers'
  | 'running'
  | 'pausing'
  | 'reminders'
  | 'probing'
  | 'beats'
  | 'answers'
  | 'bulks'
  | 'waits'
  | 'accepting'
  | 'repeating'
  | 'laning'
  | 'erasing'
  | 'jumping'
  | 'sending'
  | 'rare'
>;

export function streamsOf(
  seed: number,
  {
    tolerates,
    asksAnother,
    hasTimes,
    groups,
    followsUp,
    changesStages,
    hasContainers,
    pausesWhole,
    reminds,
    probesSlowly,
    beats,
    answersWrongly,
    actsInBulk,
    accepts,
    repeats,
    hasLanes,
    livesTwice,
    waitsShortly,
    clocksJump,
    sends,
    hasRareOptions,
  }: Traits,
  isMild: boolean,
): Streams {
  const own = (stream: number): Choice => choiceOf(seededRandom(seed ^ stream));
  return {
    tolerance: tolerates ? own(TOLERANCE_STREAM) : undefined,
    cast: asksAnother ? new Cast(own(CAST_STREAM)) : undefined,
    times: hasTimes && !isMild ? own(TIMES_STREAM) : undefined,
    groups: groups ? own(GROUP_STREAM) : undefined,
    onFailure: followsUp ? own(ON_FAILURE_STREAM) : undefined,
    stages: changesStages && !isMild ? own(STAGE_STREAM) : undefined,
    running: new Running(),
    pausing: pausesWhole && !isMild ? own(PAUSE_STREAM) : undefined,
    containers: hasContainers && !isMild ? own(CONTAINER_STREAM) : undefined,
    reminders: reminds && !isMild ? own(REMINDER_STREAM) : undefined,
    probing: probesSlowly && !isMild ? own(PROBE_STREAM) : undefined,
    beats: beats && !isMild ? own(BEAT_STREAM) : undefined,
    answers: answersWrongly && !isMild ? own(ANSWER_STREAM) : undefined,
    waits: waitsShortly && isMild ? own(WAIT_STREAM) : undefined,
    accepting: accepts && !isMild ? own(ACCEPTANCE_STREAM) : undefined,
    repeating: repeats && !isMild ? own(ROUND_STREAM) : undefined,
    erasing: isMild ? undefined : eraserOf(seed),
    laning: hasLanes && !isMild ? own(LANE_STREAM) : undefined,
    jumping: clocksJump && !isMild ? own(JUMP_STREAM) : undefined,
    sending: sends ? own(MAIL_STREAM) : undefined,
    rare: hasRareOptions ? own(RARE_STREAM) : undefined,
    // Each id has only one execution, whose commands it distinguishes.
    bulks: actsInBulk && !isMild && !livesTwice ? new BulkWorld(own(BULK_STREAM)) : undefined,
  };
}

/** The frequent faults in such a world. */
export const ratesIn = ({
  groups,
  tolerates,
  followsUp,
  changesStages,
  hasContainers,
  pausesWhole,
  accepts,
  repeats,
  hasLanes,
  emphasis,
}: Traits): Emphasis['rates'] => ({
  ...(groups ? GROUP_RATES : {}),
  ...(tolerates ? TOLERANCE_RATES : {}),
  ...(followsUp ? ON_FAILURE_RATES : {}),
  ...(changesStages ? STAGE_RATES : {}),
  ...(hasContainers ? CONTAINER_RATES : {}),
  ...(pausesWhole ? PAUSE_RATES : {}),
  ...(accepts ? ACCEPTANCE_RATES : {}),
  ...(repeats ? ROUND_RATES : {}),
  ...(hasLanes ? LANE_RATES : {}),
  ...emphasis?.rates,
});
