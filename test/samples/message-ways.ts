/** Test runs of the sample workflows that take messages. */

import { alarm } from '../../examples/from-others/alarm.ts';
import { chat } from '../../examples/from-others/chat.ts';
import { payment } from '../../examples/from-others/payment.ts';
import { subscription } from '../../examples/from-others/subscription.ts';
import { MINUTE, now, START, timed, type Way } from './ways.ts';

const CUSTOMER = { customerId: 'c', amount: 5 };
const SUBSCRIPTION = {
  from: 'Temporal, subscription-workflow-project-template-go',
  file: 'subscription',
  workflow: subscription,
  input: CUSTOMER,
  answers: { charge: () => ({ chargeId: 'c-1' }) },
};
/** The moves of a payment, by status and message. Any other pair changes nothing. */
const MOVES: Readonly<Record<string, object>> = {
  'new pay': { status: 'completed', pays: true, refunds: false },
  'new cancel': { status: 'canceled', pays: false, refunds: false },
  'completed cancel': { status: 'canceled', pays: false, refunds: true },
};

export const WITH_MESSAGES: readonly Way[] = [
  {
    ...SUBSCRIPTION,
    way: 'canceled in the third month, a charge without an answer',
    play: async (trial, input) => {
      trial.loseReply('charge', { times: 2 });
      const run = await trial.start(input);
      await trial.skip('40d');
      await run.send('amount', { amount: 7 }, { id: 'a' });
      await trial.skip('45d');
      await run.send('cancel', { reason: 'moved' }, { id: 'c' });
      return run;
    },
    ends: 'succeeded',
    deeds: 'mail charge mail charge mail charge mail',
    inOrder: true,
  },
  {
    ...SUBSCRIPTION,
    way: 'canceled in the trial',
    play: async (trial, input) => {
      const run = await trial.start(input);
      await run.send('cancel', { reason: 'no' }, { id: 'c' });
      return run;
    },
    ends: 'succeeded',
    deeds: 'mail mail',
  },
  {
    from: 'Temporal, samples-go/updatabletimer',
    file: 'alarm',
    way: 'put off twice, then brought forward',
    workflow: alarm,
    input: { wakeAt: START + 60 * MINUTE },
    answers: {
      rest: ({ message }: { message: { wakeAt: number } | null }) => ({
        seconds: Math.max(1, Math.round(((message?.wakeAt ?? 0) - now()) / 1_000)),
        isOver: message === null,
      }),
    },
    play: timed(async (trial, input) => {
      trial.loseReply('ring');
      const run = await trial.start(input);
      for (const minutes of [240, 300, 90]) {
        await trial.skip('20m');
        await run.send('wake-at', { wakeAt: START + minutes * MINUTE }, { id: `to-${minutes}` });
      }
      await trial.skip('20m');
      expect((await run.state()).status).toBe('running');
      await trial.skip('15m');
      return run;
    }),
    ends: 'succeeded',
    deeds: 'ring',
  },
  {
    from: 'Restate, statemachinepayments',
    file: 'payment',
    way: 'paid twice, canceled twice, and the withdrawal has no answer',
    workflow: payment,
    input: { accountId: 'a', amount: 5 },
    answers: {
      move: ({ status, message }: { status: string; message: { act: string } | null }) =>
        MOVES[`${status} ${message?.act}`] ?? {
          status: message === null ? 'expired' : status,
          pays: false,
          refunds: false,
        },
    },
    play: async (trial, input) => {
      trial.loseReply('withdraw');
      const run = await trial.start(input);
      const acts = ['pay', 'pay', 'cancel', 'cancel', 'pay'];
      for (const [at, act] of acts.entries()) await run.send('act', { act }, { id: `m-${at}` });
      return run;
    },
    ends: 'succeeded',
    deeds: 'withdraw deposit',
    inOrder: true,
  },
  {
    from: 'Restate, chat-bot',
    file: 'chat',
    way: 'three turns, one of them sent twice, and the model does not answer once',
    workflow: chat,
    input: { text: 'hello' },
    answers: {
      reply: ({ message, last }: { message: { text: string }; last: { history: string[] } | null }) => ({
        history: [...(last?.history ?? []), message.text],
        isOver: message.text === 'bye',
      }),
    },
    play: async (trial, input) => {
      trial.loseReply('reply');
      const run = await trial.start(input);
      for (const text of ['weather?', 'weather?', 'bye']) await run.send('say', { text }, { id: text });
      return run;
    },
    ends: 'succeeded',
    deeds: 'reply reply reply',
  },
];
