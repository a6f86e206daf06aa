/** How much room there is: of an element, and whether the page is as narrow as a phone. */

import { type Signal, signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

const phone = matchMedia('(max-width: 640px)');
/**
 * Whether the page is narrow: then seldom used parts are folded, and hints about the keyboard are left out.
 */
export const isNarrow: Signal<boolean> = signal(phone.matches);
phone.addEventListener('change', ({ matches }) => (isNarrow.value = matches));

/**
 * @returns how wide an element is, now and whenever that changes; and what the element is given as its `ref`
 */
export function useRoom(): readonly [number, RefObject<HTMLDivElement | null>] {
  const element = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(innerWidth);
  useLayoutEffect(() => {
    if (element.current === null) return undefined;
    const measure = (): void => setRoom(Math.floor(element.current?.clientWidth ?? innerWidth));
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element.current);
    return () => watch.disconnect();
  }, []);
  return [room, element];
}
