/** Stacked bars by day, drawn by uPlot on a canvas. */
import uPlot from 'uplot';
import type { Costs } from '../../src/web/base/contract.ts';
import { money } from '../text.ts';

const HEIGHT = 230;
/** The tokens of the colours, in the order of the legend. */
const TONES = ['accent', 'check', 'working', 'you', 'done', 'outside', 'waiting'];

export function drawDays(parent: HTMLElement, costs: Costs): { close(): void } {
  const style = getComputedStyle(parent);
  // A token names a colour for each theme; only a colour property resolves to the one in use.
  const colour = (name: string): string => {
    parent.style.color = `var(--${name})`;
    const { color } = style;
    parent.style.color = '';
    return color;
  };
  const tones = costs.keys.map((_, i) => colour(TONES[i % TONES.length]!));
  const times = costs.days.map(({ day }) => Date.parse(`${day}T12:00:00Z`) / 1000);
  const sums = costs.days.map(({ values }) => stacked(values));
  const axis = {
    stroke: colour('ink-3'),
    font: `11px ${style.fontFamily}`,
    grid: { show: false },
    ticks: { show: false },
  };
  const bars = uPlot.paths.bars!({ size: [0.6, 60] });
  // The highest layer is drawn first, so that each lower one covers the rest of it.
  const layers = costs.keys.map((_, i) => i).reverse();
  const chart = new uPlot(
    {
      width: parent.clientWidth,
      height: HEIGHT,
      hooks: { draw: [(plot) => writeSums(plot, times, sums, colour, style.fontFamily)] },
      cursor: { show: false },
      legend: { show: false },
      scales: {
        x: { time: true, range: (_, min, max) => [min - 43_200, max + 43_200] },
        y: { range: (_, __, max) => [0, max * 1.15] },
      },
      axes: [
        { ...axis, size: 28, values: (_, all) => all.map(dayText), splits: (plot) => labelled(times, plot.width) },
        {
          ...axis,
          values: (_, all) => all.map((value) => amount(value, (all[1] ?? 0) - (all[0] ?? 0))),
          size: 64,
          grid: { stroke: colour('line'), width: 1 },
        },
      ],
      series: [
        {},
        ...layers.map((i) => ({
          fill: tones[i]!,
          stroke: colour('surface'),
          width: 1,
          paths: bars,
          points: { show: false },
        })),
      ],
    },
    // A bar without height would still draw its edge over the axis.
    [times, ...layers.map((i) => sums.map((values, day) => (costs.days[day]!.values[i] ? values[i]! : null)))],
    parent,
  );
  const look = new ResizeObserver(() => chart.setSize({ width: parent.clientWidth, height: HEIGHT }));
  look.observe(parent);
  return {
    close() {
      look.disconnect();
      chart.destroy();
    },
  };
}

/** The sums of the highest day and of today, above their bars. */
function writeSums(
  { ctx, valToPos }: uPlot,
  times: number[],
  sums: number[][],
  colour: (name: string) => string,
  font: string,
): void {
  const tops = sums.map((values) => values.at(-1) ?? 0);
  const ratio = devicePixelRatio;
  ctx.save();
  Object.assign(ctx, { font: `600 ${11 * ratio}px ${font}`, textAlign: 'center' });
  for (const day of new Set([tops.indexOf(Math.max(...tops)), tops.length - 1])) {
    const sum = tops[day] ?? 0;
    if (sum === 0) continue;
    const [x, y] = [valToPos(times[day]!, 'x', true), valToPos(sum, 'y', true) - 5 * ratio];
    const width = ctx.measureText(money(sum)).width + 6 * ratio;
    // No line of the grid goes through it.
    ctx.fillStyle = colour('surface');
    ctx.fillRect(x - width / 2, y - 10 * ratio, width, 12 * ratio);
    ctx.fillStyle = colour('ink');
    ctx.fillText(money(sum), x, y);
  }
  ctx.restore();
}

/** As many decimals as tell two marks of the axis apart. */
function amount(microUsd: number, step: number): string {
  const decimals = step >= 1e6 ? 0 : Math.min(6, Math.max(2, Math.ceil(-Math.log10(step / 1e6))));
  return `$${(microUsd / 1e6).toFixed(decimals)}`;
}

const LABEL_PX = 52;
const AXIS_PX = 78;

/** At most as many labels as fit. */
function labelled(times: number[], width: number): number[] {
  const each = Math.ceil((times.length * LABEL_PX) / Math.max(LABEL_PX, width - AXIS_PX));
  return times.filter((_, i) => (times.length - 1 - i) % each === 0);
}

function stacked(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => (sum += value));
}

function dayText(seconds: number): string {
  return new Date(seconds * 1000).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
}
