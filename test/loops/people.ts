/** Loops in which a person answers, and machines of statuses. */

import { concat, eq, isIn, matches, not, orElse, workflow } from 'steadfast';
import { testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';
import { Empty, type Loop, Services, Text } from './loop.ts';

/** Reminders until a task is done, written as an option of the approval. */
async function reminded() {
  const tasks = workflow('tasks', { input: Empty, within: '30d' }, (w) => {
    w.approval('task', { within: '20d', remindEvery: '4h' });
  });
  const trial = testWorkflow(tasks, { agents: [] });
  const run = await trial.start({});
  await run.waitForQuestion('task');
  await trial.skip('9h');
  await run.approve('task');
  const { status } = await run.waitForEnd();
  return { status, calls: trial.questionNews.map(({ change }) => change).join(' ') };
}

const Feedback = z.object({ approved: Text, message: Text });
const Draft = z.object({ text: Text });
const Asked = z.object({ text: Text, token: Text });

/** A person reads a text, and asks for a new one until it is right. */
async function regenerate() {
  const services = new Services();
  const reads = services.agent('read', Empty, Draft, () => ({ text: 't' }));
  const writes = services.agent('write', Draft, Draft, (input) => input);
  const asks = services.agent('ask', Asked, Empty, () => ({}));
  const draft = workflow('draft', { input: Empty, within: '7d' }, (w) => {
    const { output } = w.step('read', reads, {});
    const title = w.step('title', writes, output);
    const rest = w.step('description', writes, output);
    const answer = w.callback('answer', { output: Feedback, within: '5d', after: [title, rest] });
    const text = concat(title.output.text, rest.output.text);
    w.step('ask', asks, { text, token: answer.token });
    return answer.output;
  });
  const drafts = workflow('drafts', { input: Empty, within: '60d' }, (w) => {
    w.repeat(
      'drafts',
      draft,
      {},
      {
        until: (last) => not(matches(last.message, 'regenerate')),
        maxRounds: 10,
      },
    );
  });
  return services.play(drafts, {}, [
    { approved: 'no', message: 'regenerate' },
    { approved: 'yes', message: '' },
  ]);
}

const Trigger = z.object({ trigger: Text, guard: Text });

/** Asks again until the answer is a known one. */
async function untilKnown(known: readonly string[], given: readonly z.infer<typeof Trigger>[]) {
  const services = new Services();
  const asks = services.agent('ask', z.object({ token: Text }), Empty, () => ({}));
  const asking = workflow('asking', { input: Empty, within: '5d' }, (w) => {
    const answer = w.callback('answer', { output: Trigger, within: '4d' });
    w.step('ask', asks, { token: answer.token });
    return { said: concat(answer.output.trigger, ':', answer.output.guard) };
  });
  const check = workflow('check', { input: Empty, within: '60d' }, (w) => {
    w.repeat('check', asking, {}, { until: (last) => isIn(last.said, known), maxRounds: 20 });
  });
  return services.play(check, {}, given);
}

const Asks = z.object({ of: Text, token: Text });
const Turn = z.object({ trigger: Text, last: Text });
const Said = z.object({ trigger: Text });

/** A state machine of three statuses: each round does the step of one status, and returns the next status. */
function openRequest(services: Services) {
  const routes = services.agent('route', Asks, Empty, () => ({}));
  const turn = workflow('turn', { input: Turn, within: '5d' }, (w) => {
    const { trigger, last } = w.input;
    const asked = (name: string, of: string) => {
      const when = eq(trigger, of);
      const answer = w.callback(name, { output: Said, within: '4d', when });
      w.step(`ask-${name}`, routes, { of: name, token: answer.token }, { when });
      return answer.output.trigger;
    };
    const analyst = asked('analyst', 'invRequested');
    const manager = asked('manager', 'needsApproval');
    const decision = asked('decision', 'initial');
    // If there is none, the former trigger.
    const next = orElse(analyst, orElse(manager, orElse(decision, last)));
    return { trigger: next, last: trigger };
  });
  return workflow('open-request', { input: Turn, within: '60d' }, (w) => {
    const turns = w.repeat('turns', turn, w.input, {
      until: (last) => isIn(last.trigger, ['requestRejected', 'requestApproved', 'cancellationRequested']),
      next: (last) => last,
      maxRounds: 50,
    });
    return turns.output.last;
  });
}

async function opened() {
  const services = new Services();
  const said = ['invRequested', 'nonsense', 'needsApproval', 'requestApproved'];
  const answers = said.map((trigger) => ({ trigger }));
  return services.play(openRequest(services), { trigger: 'initial', last: 'initial' }, answers);
}

/** A cancellation that asks until the answer is one of two. */
function cancelRequest(services: Services) {
  const cancels = services.agent('cancel', z.object({ token: Text }), Empty, () => ({}));
  const asking = workflow('asking-to-cancel', { input: Empty, within: '5d' }, (w) => {
    const answer = w.callback('canceled', { output: Said, within: '4d' });
    w.step('ask', cancels, { token: answer.token });
    return answer.output;
  });
  return workflow('cancel-request', { input: Empty, within: '60d' }, (w) => {
    const asked = w.repeat(
      'asked',
      asking,
      {},
      {
        until: (last) => isIn(last.trigger, ['requestGone', 'cancellationRejected']),
        maxRounds: 20,
      },
    );
    return asked.output.last;
  });
}

/** A state machine around the other: it reopens, with its history, when a cancellation is rejected. */
async function serviceRequest() {
  const services = new Services();
  const opens = openRequest(services);
  const cancels = cancelRequest(services);
  const alerts = services.agent('alert', Empty, Empty, () => ({}));
  const closes = services.agent('close', Empty, Empty, () => ({}));
  const round = workflow('request', { input: Turn, within: '120d' }, (w) => {
    const open = w.child('open', opens, w.input);
    const when = eq(open.output.trigger, 'cancellationRequested');
    const canceled = w.child('cancel', cancels, {}, { when });
    const trigger = orElse(canceled.output.trigger, open.output.trigger);
    w.step('alert', alerts, {}, { when: eq(trigger, 'cancellationRejected') });
    return { trigger, last: open.output.last };
  });
  const whole = workflow('service-request', { input: Turn, within: '365d' }, (w) => {
    const all = w.repeat('requests', round, w.input, {
      until: (last) => not(eq(last.trigger, 'cancellationRejected')),
      next: (last) => ({ trigger: last.last, last: last.last }),
      maxRounds: 20,
    });
    w.step('close', closes, {}, { after: [all] });
  });
  const said = ['cancellationRequested', 'nonsense', 'cancellationRejected', 'requestApproved'];
  const answers = said.map((trigger) => ({ trigger }));
  return services.play(whole, { trigger: 'initial', last: 'initial' }, answers);
}

const COLLECTION = 'step-functions-workflows-collection';
const UML = `${COLLECTION}/uml-statemachine/statemachine`;
const NO = { trigger: 'nonsense', guard: '' };

export const PEOPLE: readonly Loop[] = [
  {
    from: 'aws-stepfunctions-examples/usecases/genai-prompt-chaining-hitl/src/workflow.asl.json',
    states: [
      'Read Transcript',
      'Pass',
      'Parallel',
      'Wait for user feedback',
      'Choose the title and Description',
    ],
    play: regenerate,
    calls: 'read write write ask read write write ask',
  },
  {
    from: `${COLLECTION}/human-task-reminder/statemachine/statemachine.asl.yaml`,
    states: [
      'Sleep for Reminder',
      'DDB Get Task Status',
      'Is Task Complete?',
      'Reset JSON',
      'SNS Send Reminder',
    ],
    play: reminded,
    calls: 'opened reminded reminded closed',
  },
  {
    from: `${UML}/BlogBackgroundChecksSM.asl.json`,
    states: ['Run Criminal Check', 'Choose Criminal Result'],
    play: () => untilKnown(['criminalCheckDone:'], [NO, { trigger: 'criminalCheckDone', guard: '' }]),
    calls: 'ask ask',
  },
  {
    from: `${UML}/BlogBackgroundChecksSM.asl.json`,
    states: ['Run Financial Check', 'Choose Financial Result'],
    play: () => untilKnown(['financialCheckDone:'], [NO, { trigger: 'financialCheckDone', guard: '' }]),
    calls: 'ask ask',
  },
  {
    from: `${UML}/BlogBuySellSM.asl.json`,
    states: ['Route For Approval (Callback)', 'Buy or Sell?'],
    play: () =>
      untilKnown(
        ['approvalComplete:buy', 'approvalComplete:sell', 'approvalComplete:reject'],
        [NO, { trigger: 'approvalComplete', guard: '' }, { trigger: 'approvalComplete', guard: 'sell' }],
      ),
    calls: 'ask ask ask',
  },
  {
    from: `${UML}/BlogOpenRequestSM.asl.json`,
    states: [
      'Choose Next Task',
      'Bad Choice',
      'Route To Analyst (Callback)',
      'Set History State',
      'Route To Manager (Callback)',
      'Make STP Request (Callback)',
    ],
    play: opened,
    calls: 'route route route route',
  },
  {
    from: `${UML}/BlogServiceRequestSM.asl.json`,
    states: [
      'Start Open Request (Wait to Complete)',
      'Choice After Open',
      'Cancel Request (Callback)',
      'Combine Result',
      'Choice After Cancel',
      'Alert Oddity',
      'Prep Open Request History',
    ],
    play: serviceRequest,
    calls: 'route cancel cancel alert route close',
  },
];
