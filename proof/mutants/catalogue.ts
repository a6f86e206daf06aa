/**
 * All planted bugs, in the order of the document.
 *
 * They are in behaviour that no function's unit test can show: the order of effects, the ports, the template,
 * and in the core what only random worlds or the model find. There are at most `MAX_PLANTED`, several for
 * every judge and every kind of mistake that it must find. In addition, each sentence of the rules of newer
 * mechanisms has a bug, which any check may find.
 */

import { BLIND } from './catalogue/blind.ts';
import { NOTIFICATIONS } from './catalogue/notifications.ts';
import { CARRIED } from './catalogue/carried.ts';
import { EFFECTS } from './catalogue/effects.ts';
import { ACCEPTED, VALUES } from './catalogue/work-and-values.ts';
import { LIVES } from './catalogue/lives.ts';
import { IN_EFFECT } from './catalogue/in-effect.ts';
import { INTERLEAVINGS } from './catalogue/interleavings.ts';
import { PLACES, ROUNDS } from './catalogue/lanes-and-rounds.ts';
import { MAILBOXES } from './catalogue/mailboxes.ts';
import { MESSAGES } from './catalogue/messages.ts';
import { MESSAGES_OF_ROUNDS } from './catalogue/messages-of-rounds.ts';
import { NOT_BEFORE } from './catalogue/not-before.ts';
import { ORDERS } from './catalogue/orders.ts';
import { PAUSES } from './catalogue/pauses.ts';
import { PORTS } from './catalogue/ports.ts';
import { READY } from './catalogue/ready.ts';
import { SERVE } from './catalogue/serve.ts';
import { STOPS } from './catalogue/stops.ts';
import { TEMPLATE } from './catalogue/template.ts';
import { QUESTIONS } from './catalogue/questions.ts';
import { TURNS } from './catalogue/turns.ts';
import { WAITS } from './catalogue/waits.ts';
import { WEBHOOKS } from './catalogue/webhooks.ts';
import { WHOLES } from './catalogue/wholes.ts';
import type { Mutant } from './mutant.ts';

/** The bugs, by concept. */
export const CONCEPTS: Readonly<Record<string, readonly Mutant[]>> = {
  'the order of effects': EFFECTS,
  'the ports on AWS': PORTS,
  'the server of one machine': SERVE,
  'the template': TEMPLATE,
  'the order of events': INTERLEAVINGS,
  'what random worlds were blind to': BLIND,
  'what shows only in a whole': WHOLES,
  'what people have ordered': ORDERS,
  'what is in effect': IN_EFFECT,
  'not before a time': NOT_BEFORE,
  'places in lanes': PLACES,
  rounds: ROUNDS,
  'stopped executions': STOPS,
  'accepted work': ACCEPTED,
  'names of values': VALUES,
  'lives and erasure': LIVES,
  'turns of shares and slots': TURNS,
  'changes of a question': QUESTIONS,
  'the table of waits': WAITS,
  'executions carried on': CARRIED,
  pauses: PAUSES,
  'declared requests': READY,
  'signed requests': WEBHOOKS,
  'news to addresses of starts': NOTIFICATIONS,
  'messages to executions': MESSAGES,
  'rounds that begin with messages': MESSAGES_OF_ROUNDS,
  mailboxes: MAILBOXES,
};

export const MUTANTS: readonly Mutant[] = Object.values(CONCEPTS).flat();
