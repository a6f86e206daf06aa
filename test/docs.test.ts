/** The generated documents match the code. */

import { PRINTED, writtenDocument } from '../scripts/docs.ts';
import { typeSchemas, withComments } from '../scripts/json-schemas.ts';
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
    const { IncidentView, ...others } = typeSchemas(['IncidentView', 'PauseOptions']);
    expect(IncidentView?.properties).toMatchObject({
      otherwise: { description: 'The choice that applies when the time is over.' },
      number: { type: 'integer' },
    });
    const requested = withComments('PauseOptions', {
      properties: { within: { type: 'string', maxLength: 60 } },
    });
    const { description } = others['PauseOptions']?.properties?.['within'] ?? {};
    expect(description).toMatch(/^How long it may last .* Default: the workflow's, or '7d'$/);
    expect(requested).toEqual({ properties: { within: { type: 'string', maxLength: 60, description } } });
  });

  it('names no type that there is not', () => {
    expect(() => typeSchemas(['Nothing'])).toThrow('Nothing');
  });
});
