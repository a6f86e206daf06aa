/** The progress display of a chaos run. */

import { lineOf, Progress, type Sight } from '../../../proof/chaos/progress.ts';

describe('the progress', () => {
  const sight: Sight = {
    seconds: 12.3,
    phase: 'chaos',
    started: 20,
    open: 4,
    kills: 7,
    freezes: 1,
    storeRestarts: 1,
    oldestOpenSeconds: 9.6,
  };
  const screen = (isTTY: boolean): { written: string[]; isTTY: boolean; write(text: string): void } => {
    const written: string[] = [];
    return { written, isTTY, write: (text) => void written.push(text) };
  };

  it('tells what is open and for how long', () => {
    expect(lineOf(sight)).toBe(
      '  12 s  chaos · 20 started · 16 ended · 4 open, the oldest for 10 s · 7 kills · 1 freezes · 1 store restarts',
    );
  });

  it('redraws one line on a terminal and writes a line now and then elsewhere', () => {
    const terminal = screen(true);
    const live = new Progress(terminal);
    live.show(sight);
    live.say('done');
    expect(terminal.written).toEqual([expect.stringMatching(/^\r.*chaos/), '\r\u001B[Kdone\n']);
    const file = screen(false);
    const plain = new Progress(file);
    for (const seconds of [1, 2, 15, 17, 32.4]) plain.show({ ...sight, seconds });
    expect(file.written.map((line) => line.slice(0, 4))).toEqual(['   1', '  17', '  32']);
  });
});
