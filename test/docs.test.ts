/** Printed documents say what the code says. */

import { PRINTED, writtenDocument } from '../scripts/docs.ts';
import { withComments } from '../scripts/json-schemas.ts';
import { printStateMachine } from '../scripts/print-state-machine.ts';

describe.each(Object.entries(PRINTED))('%s', (path, print) => {
  it('is what the code says; else run npm run docs', () => {
    expect(writtenDocument(path)).toBe(print());
  });

  it('is printed the same every time', () => {
    expect(print()).toBe(print());
  });
});

describe('docs/STATE-MACHINE.md', () => {
  it('has every diagram closed', () => {
    expect(printStateMachine().match(/```/g)).toHaveLength(4);
  });
});

describe('docs/openapi.json', () => {
  it('describes fields as the comments of their types do, also of types that these are made of', () => {
    const field = { type: 'string' };
    const described = withComments({
      IncidentView: { properties: { otherwise: field, number: field } },
      PauseOptions: { properties: { within: field, commandId: field } },
    });
    expect(described).toMatchObject({
      IncidentView: {
        properties: { otherwise: { description: 'The choice that holds when the time is over.' } },
      },
      PauseOptions: {
        properties: {
          within: {
            description: expect.stringMatching(/^How long it may last .* Default: the workflow's, or '7d'$/),
          },
          commandId: { description: 'A command repeated under the same id is obeyed once.' },
        },
      },
    });
    expect(described['IncidentView']?.properties?.['number']).toEqual(field);
  });
});
