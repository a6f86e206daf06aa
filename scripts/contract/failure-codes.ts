/**
 * The product's own failure codes of steps and executions: what happened, and what to do. Codes of authors'
 * errors (`code`, or else the error's name) and of services are not listed.
 */

/** A heading of the page, and its rows: the code, what happened, what to do. */
export interface Codes {
  readonly heading: string;
  readonly rows: readonly (readonly [code: string, cause: string, cure: string])[];
}

const PROBED = 'Nothing: it is probed or repeated. If it happens often,';

export const FAILURE_CODES: readonly Codes[] = [
  {
    heading: 'Attempts',
    rows: [
      [
        'timeout',
        "The attempt took longer than the agent's `timeout`.",
        `${PROBED} raise \`timeout\`, or fix what the agent waits for.`,
      ],
      [
        'lease-ended',
        'The process died or went silent: it did not renew its lease, the time within which it must give a sign.',
        `${PROBED} read the last lines of its log: memory, an endless loop, a process that was killed.`,
      ],
      [
        'process-died',
        'The process of the attempt died while the agent was at work.',
        `${PROBED} fix what ends the process: \`process.exit\`, a rejected promise that is not awaited, memory.`,
      ],
      [
        'no-progress',
        'The attempt, or accepted work, sent heartbeats but did not advance for as long as the agent allows.',
        'Fix whatever it hangs on, or report progress more often, or allow more time.',
      ],
      [
        'not-begun',
        'The attempt was aborted before its process took it.',
        'Nothing: it is tried again, and did nothing.',
      ],
      [
        'aborted',
        'The call was given up when the attempt lost its lease or its time was over.',
        `${PROBED} raise \`timeout\`.`,
      ],
      [
        'bug',
        "The error is certainly the code's: a `ReferenceError`, or a `TypeError` that no service caused.",
        'Deploy a fixed version: file and line are in the message. The service is not to blame.',
      ],
      [
        'cannot-tell',
        'A probe could not find out whether the work was done.',
        'Fix the probe, or answer the question that is asked after its last try.',
      ],
      [
        'not-done',
        'An answer, or an acceptance, said that the work was done or taken, and a probe found that it was not.',
        'See the service: it took back what it had said. The step follows its recovery.',
      ],
      [
        'no-probe',
        'The outcome is unknown, and the agent has no probe.',
        'Give the agent a `probe`, or make its work safe to repeat and say so.',
      ],
      [
        'no-undo',
        "The step's effect is to be undone, and the deployed agent has no `undo`.",
        'Deploy the agent with `undo`, then retry the undo.',
      ],
      [
        'wrong-handler',
        'The file of one agent exports the handler of another; nothing was done.',
        'Export the handler of the agent after which the file is named.',
      ],
    ],
  },
  {
    heading: 'Input and output',
    rows: [
      [
        'input-refused',
        "The agent's schema, or the child's, refuses the input of the step.",
        'Correct what the message names, in the workflow or in the schema; deploy; retry.',
      ],
      [
        'input-too-large',
        'The input of the step has more bytes than allowed.',
        'Store what is large elsewhere, and pass a reference.',
      ],
      [
        'input-unsendable',
        'The agent has a process of its own, and what its schema makes of the input cannot be sent there.',
        'Have the schema make plain data, or create the object in `execute`.',
      ],
      [
        'bad-output',
        'The work is done, and its answer does not fit the schema of the agent, or is not JSON.',
        "Fix the agent's answer or schema. The work stands: the question that is asked says what can be done.",
      ],
      [
        'no-accepted-within',
        'The agent answered that a service accepted the work, and its declaration does not say how long that may take.',
        'Declare it. The work goes on: the question that is asked says what can be done.',
      ],
      [
        'bad-token',
        'The service has accepted the work, and its `token` cannot be kept: it is empty, too long or no text.',
        'Return as `token` what the service calls the work. The work goes on: the question that is asked says what can be done.',
      ],
      [
        'output-too-large',
        'The work is done, and its answer has more bytes than allowed.',
        'Store it elsewhere, and return a reference.',
      ],
      [
        'value-lost',
        'A large value that the step reads was deleted or replaced in the bucket, or cannot be loaded.',
        'See who deletes there. Undo or cancel the execution, or start it again.',
      ],
    ],
  },
  {
    heading: 'Time',
    rows: [
      [
        'deadline',
        'The execution did not end within the time of its workflow (`within`).',
        'See which step took the time; raise `within`, and start it again.',
      ],
      ['within', 'The step did not end within its own time.', 'Raise it, or fix what it waits for.'],
      [
        'bad-time',
        'The time until which a `wait` waits is not an instant.',
        'Give an ISO 8601 date-time with a zone, or epoch milliseconds.',
      ],
      [
        'undo-overdue',
        'No agent could undo the step for a day.',
        'See whether the agent is deployed and its service answers; then retry the undo.',
      ],
      [
        'on-failure-overdue',
        'No agent could perform the on-failure step for a day.',
        'See whether the agent is deployed and its service answers.',
      ],
    ],
  },
  {
    heading: 'Waiting and people',
    rows: [
      [
        'no-answer',
        'A callback or an approval was not answered in time; of a command: it ended without an answer.',
        'Allow more time, or remind who should answer.',
      ],
      [
        'no-message',
        'No message of its name was sent to the execution in time.',
        "Send one sooner, or allow more time; with otherwise: 'continue' it goes on without.",
      ],
      [
        'rejected',
        'A person rejected it, or the approval counts as rejected after its time.',
        'The message has the reason. Nothing is broken.',
      ],
      [
        'accepted-timeout',
        'A service accepted the work, but did not finish it within the time that the agent allows for that.',
        'Ask the service; allow more time.',
      ],
      [
        'concurrency-timeout',
        'The execution got no place in its lane in time.',
        'Raise the limit of the lane or the time to wait, or start fewer at once.',
      ],
      [
        'too-many-rounds',
        'The condition of a `repeat` did not hold after as many rounds as are allowed.',
        'Allow more rounds, or fix what should have made it hold.',
      ],
      ['canceled', 'A person canceled the execution.', 'The message has the reason. Nothing is broken.'],
      [
        'paused',
        'It was paused for longer than the pause allows, and a person is asked.',
        'Resume it, or answer; without an answer it is undone, where that is still possible.',
      ],
    ],
  },
  {
    heading: 'Children and lists',
    rows: [
      [
        'child-failed',
        'The child execution failed. Likewise `child-canceled`, `child-compensated`.',
        'Open the child: the message has its id and its cause.',
      ],
      [
        'items-failed',
        'More items of the list failed than may fail.',
        'See the items that failed; retry, or allow more.',
      ],
      [
        'not-a-list',
        'The value of `over` is not a list.',
        'Correct the reference, or the output that it reads.',
      ],
      ['list-too-long', 'The list has more items than allowed.', 'Split it, or map in two levels.'],
      [
        'list-too-large',
        'The items, or the outputs of the items that another step reads, have too many bytes.',
        'Pass or return references to a store of your own.',
      ],
      ['item-too-large', 'One item has more bytes than allowed.', 'Pass a reference to a store of your own.'],
      ['parent-compensated', 'The execution that this one is a part of is being undone.', 'See the parent.'],
    ],
  },
  {
    heading: 'Ends',
    rows: [
      ['failed', 'A step failed, and no more is known of it.', 'Read `why`.'],
      [
        'compensation-failed',
        'The effects of the named steps could not be undone: they may still stand.',
        'Undo them by hand, or fix the cause and retry the undo.',
      ],
    ],
  },
  {
    heading: 'Agents elsewhere, and HTTP agents',
    rows: [
      [
        'bad-request',
        'The request of an HTTP agent cannot be made of its input, or its address is not set; nothing was sent.',
        'Fix the input or the declaration; the message names the part.',
      ],
      [
        'private-address',
        'The address of an HTTP agent is private, or its name has a private one; nothing was sent.',
        'If it is meant, declare `allowPrivateAddresses: true`.',
      ],
      [
        'no-secret',
        'The secret of an HTTP agent cannot be read; nothing was sent.',
        'Create the parameter or secret that the message names, or set the variable.',
      ],
      [
        'bad-answer',
        'The program, function or server answered with something that is not an answer; an HTTP agent reads JSON.',
        'See the contract in [AGENTS-ELSEWHERE.md](AGENTS-ELSEWHERE.md#in-another-language).',
      ],
      ['answer-too-large', 'The answer has more bytes than allowed.', 'Return a reference.'],
      [
        'unsafe-number',
        'An answer has a whole number beyond ±9007199254740991 in its output, or where an HTTP agent reads it; it would be rounded to another one.',
        'Let the service send it as text; an HTTP agent may read other fields: declare `output`.',
      ],
      [
        'http-500',
        'The server, or Lambda, answered with this status (`http-` and the number).',
        `${PROBED} see the log of the server.`,
      ],
      [
        'broken-connection',
        'The connection broke before the answer was complete.',
        `${PROBED} see the log of the server.`,
      ],
      ['function-error', 'The Lambda function ended with an error.', 'Read its own log.'],
    ],
  },
];
