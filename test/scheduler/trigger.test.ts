import { parseTrigger, startOf, type Trigger } from '../../lib/scheduler/trigger.ts';

const trigger: Trigger = {
  name: 'sold',
  workflow: 'order',
  from: 'event',
  input: { id: { $ref: 'input', path: ['detail', 'id'] }, note: { $ref: 'input', path: ['detail', 'note'] } },
  key: [
    { $ref: 'input', path: ['id'] },
    { $ref: 'input', path: ['part'] },
  ],
};
const message = (body: unknown, id = 'm-1') => ({
  id,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  attributes: { key: 'k-1' },
});
const event = { id: 'e-1', part: 2, detail: { id: 'o-1', secret: 's' } };

describe('the start that an event asks for', () => {
  it('reads a message with its id and attributes where the event is the message', () => {
    const direct: Trigger = {
      ...trigger,
      from: 'message',
      input: { $ref: 'input', path: ['body'] },
      key: [{ $ref: 'input', path: ['attributes', 'key'] }],
    };
    expect(startOf(direct, message({ a: 1 }))).toEqual({ input: { a: 1 }, key: '["sold","k-1"]' });
    const byId = { ...direct, key: [{ $ref: 'input', path: ['messageId'] }] };
    expect(startOf(byId, message({ a: 1 })).key).toBe('["sold","m-1"]');
  });

  it('is refused if a part that it reads would be rounded or is invalid Unicode, and only then', () => {
    const whole = JSON.stringify({ ...event, other: { size: 'N', cut: 'T' } });
    const at = (place: string, text: string): unknown =>
      startOf(trigger, message(whole.replace(place, text).replace('"N"', '0')));
    const big = '9007199254740993';
    for (const [place, text, code, path] of [
      ['"o-1"', big, 'unsafe-number', "'detail.id'"],
      ['"e-1"', big, 'unsafe-number', "'id'"],
      [':2,', `:-${big},`, 'unsafe-number', "'part'"],
      ['"o-1"', '"o\\ud83d"', 'bad-event', '/id contains half'],
      ['"e-1"', '"e\\ud83d"', 'bad-event', 'half a character'],
    ] as const) {
      expect(() => at(place, text)).toThrow(
        expect.objectContaining({ code, message: expect.stringContaining(path) }),
      );
    }
    const plainly = startOf(trigger, message(event));
    expect(at('"N"', big)).toEqual(plainly);
    expect(at('"T"', '"\\ud83d"')).toEqual(plainly);
    expect(at('"s"', big)).toEqual(plainly);
  });

  it('that is sent names the execution by the key of a call, or of the trigger that starts it', () => {
    const sold = { $ref: 'input', path: ['detail', 'id'] };
    const sends = (send: Partial<NonNullable<Trigger['send']>>): Trigger => ({
      ...trigger,
      name: 'paid',
      send: { message: 'paid', key: [sold], ...send },
    });
    const asked = { input: { id: 'o-1' }, key: '["paid","e-1",2]' };
    expect(startOf(sends({}), message(event))).toEqual({ ...asked, to: 'o-1' });
    const byTrigger = { startedBy: 'sold', key: [sold, { $ref: 'input', path: ['part'] }] };
    expect(startOf(sends(byTrigger), message(event)).to).toBe('["sold","o-1",2]');
    const none = { ...event, detail: {} };
    expect(() => startOf(sends({}), message(none))).toThrow(
      'no value at the paths of the key of its execution',
    );
    const big = JSON.stringify({ ...event, detail: { id: 0 } }).replace('0', '9007199254740993');
    expect(() => startOf({ ...sends({}), input: {} }, message(big))).toThrow(
      expect.objectContaining({ code: 'unsafe-number' }),
    );
  });

  it('with a message as source is refused by the path in its text', () => {
    const direct: Trigger = {
      ...trigger,
      from: 'message',
      input: { $ref: 'input', path: ['body', 'order'] },
      key: [{ $ref: 'input', path: ['messageId'] }],
    };
    const text = '{"order":{"lines":[{"sku":9007199254740993}]},"other":9007199254740993}';
    expect(() => startOf(direct, message(text))).toThrow(/at 'order.lines.0.sku' a whole number/);
    expect(startOf(direct, message(text.replace('9007199254740993', '7'))).input).toEqual({
      lines: [{ sku: 7 }],
    });
  });

  it.each<[string, unknown, RegExp]>([
    ['no JSON', 'hello', /is not JSON/],
    ['a key that pollutes', '{"id":"e","part":1,"__proto__":{}}', /__proto__/],
    ['a part of the key missing', { id: 'e-1' }, /idempotency key/],
    ['an empty part of the key', { ...event, id: '' }, /idempotency key/],
    ['a part of the key that is an object', { ...event, id: {} }, /idempotency key/],
    ['null', 'null', /idempotency key/],
  ])('is refused for good with %s', (_, body, text) => {
    const start = (): unknown => startOf(trigger, message(body));
    expect(start).toThrow(
      expect.objectContaining({ code: 'bad-event', message: expect.stringMatching(text) }),
    );
  });

  it('is refused where all of the input should come from a place that is not there', () => {
    const whole = { ...trigger, input: { $ref: 'input', path: ['body'] } };
    const refused = { code: 'bad-event', message: expect.stringMatching(/at the path of the input/) };
    expect(() => startOf(whole, message(event))).toThrow(expect.objectContaining(refused));
  });

  it('is refused where nothing tells one event from another', () => {
    expect(() => startOf({ ...trigger, key: [] }, message(event))).toThrow(/idempotency key/);
    expect(() => startOf({ ...trigger, key: [{ $ref: 'step:a', path: [] }] }, message(event))).toThrow(
      /idempotency key/,
    );
  });

  it.each<[unknown, string]>([
    [0, '["sold",0,"p"]'],
    [false, '["sold",false,"p"]'],
    [' ', '["sold"," ","p"]'],
  ])('has %j in its key as it is', (id, key) => {
    expect(startOf(trigger, message({ id, part: 'p' })).key).toBe(key);
  });

  it.each<[unknown]>([[null], [[1]], [undefined]])('has no key of %j', (id) => {
    expect(() => startOf(trigger, message({ id, part: 'p' }))).toThrow(/idempotency key/);
  });

  it('says in few words what is not acceptable', () => {
    const deep = `${'['.repeat(40)}${']'.repeat(40)}`;
    const refusal = (body: string): string => {
      try {
        startOf(trigger, message(body));
      } catch (error) {
        return (error as Error).message;
      }
      return 'it was accepted';
    };
    expect(refusal(deep)).toBe('the message is not acceptable: nested deeper than 32 levels');
    expect(refusal('{')).toBe('the message is not JSON');
    const key = 'k'.repeat(250);
    expect(refusal(`{"${key}":1e999}`)).toBe(`the message is not acceptable: /${key.slice(0, 199)}`);
    const polluted = JSON.stringify({ a: JSON.parse('{"__proto__":1}') as unknown });
    expect(refusal(polluted)).toBe('the message is not acceptable: the key "__proto__" is not allowed');
  });
});

describe('a trigger’s file', () => {
  it('is read back', () => {
    expect(parseTrigger(JSON.stringify(trigger))).toEqual(trigger);
  });
  it.each([
    'null',
    '[]',
    '{}',
    JSON.stringify({ ...trigger, key: 'id' }),
    JSON.stringify({ ...trigger, name: 1 }),
    JSON.stringify({ ...trigger, workflow: 1 }),
    JSON.stringify({ ...trigger, from: 'queue' }),
    JSON.stringify({ ...trigger, input: undefined }),
  ])('is refused as %s', (text) => {
    const refused = {
      code: 'bad-trigger',
      message: 'the settings of the trigger are not valid',
    };
    expect(() => parseTrigger(text)).toThrow(expect.objectContaining(refused));
  });
  it('may be of a message, and give null', () => {
    const other = { ...trigger, from: 'message', input: null };
    expect(parseTrigger(JSON.stringify(other))).toEqual(other);
  });
});
