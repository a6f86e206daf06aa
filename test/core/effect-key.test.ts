/** The name under which the outside world knows what a step does (S18). */

import { effectKeyOf, lifeOf } from '../../lib/core/effect-key.ts';

it('is made of the execution, the step and the life of the execution', () => {
  expect(effectKeyOf({ id: 'e-1.sub.0', life: 'k3' }, 'it')).toBe('e-1.sub.0.it.k3');
  expect(effectKeyOf({ id: 'e-1', life: 'k4' }, 'it')).not.toBe(effectKeyOf({ id: 'e-1', life: 'k3' }, 'it'));
});

it('is as it was for an execution of a release that knew no lives', () => {
  expect(effectKeyOf({ id: 'e-1', life: '' }, 'it')).toBe('e-1.it');
});

it.each([
  ['Q-Kd7wZ-_x9PbL0aVr3tYg', 'pbl0avr3tyg'.slice(-10)],
  ['7b0c1c7e-0000-4000-8000-12ab34cd56ef', 'ab34cd56ef'],
  ['id-1-2', 'id12'],
])('a life is the end of a fresh id, in letters and digits: %s', (id, life) => {
  expect(lifeOf(id)).toBe(life);
});
