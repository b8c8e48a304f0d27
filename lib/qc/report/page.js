// Draws the charts of the page: each canvas names the data that it shows. A range that is dragged over is zoomed to,
// in all charts of the same group; a button saves a chart as a picture.
'use strict';
(function () {
  // Colours of Okabe and Ito, which colour-blind readers can tell apart.
  const light = {ink: '#566573', line: '#e3e9ee', ground: '#ffffff', text: '#1b2733', A: '#0072b2', T: '#d55e00',
    C: '#009e73', G: '#a07800', N: '#999999', GC: '#cc79a7', mean: '#000000', percent: '#0072b2'};
  const dark = {ink: '#9fb0c0', line: '#2b3844', A: '#56b4e9', T: '#ff8a3d', C: '#2ac29a', G: '#f0e442', N: '#999999',
    GC: '#cc79a7', mean: '#ffffff', percent: '#56b4e9'};
  const wantsDark = window.matchMedia('(prefers-color-scheme: dark)');
  const charts = [];

  // Qualities below 20, from 20 to 30, and above: the bounds of the rows Q20 and Q30.
  const ranges = {
    id: 'ranges',
    beforeDatasetsDraw(chart) {
      if (chart.canvas.source.kind !== 'quality') return;
      const {left, right, top, bottom} = chart.chartArea;
      const y = (quality) => Math.min(bottom, Math.max(top, chart.scales.y.getPixelForValue(quality)));
      for (const [from, to, colour] of [[-100, 20, 'rgba(213,94,0,.12)'], [20, 30, 'rgba(240,178,0,.12)']]) {
        chart.ctx.fillStyle = colour;
        chart.ctx.fillRect(left, y(to), right - left, y(from) - y(to));
      }
    }
  };

  function options(data) {
    return {
      animation: false,
      maintainAspectRatio: false,
      interaction: {mode: 'index', axis: 'x', intersect: false},
      scales: {
        x: {type: 'linear', min: data.x[0], max: data.x[data.x.length - 1], title: {display: true, text: data.xTitle},
          ticks: {maxTicksLimit: 9, precision: 0, maxRotation: 0, includeBounds: false}, grid: {display: false}},
        y: {min: data.yMin, max: data.yMax, title: {display: true, text: data.yTitle},
          ticks: {maxTicksLimit: 8, includeBounds: false}}
      },
      plugins: {
        legend: {display: data.series.length > 1, labels: {boxWidth: 12, boxHeight: 2}},
        tooltip: {
          animation: false,
          callbacks: {
            title: (items) => data.xTitle + ' ' + items[0].parsed.x,
            label: (item) => data.series[item.datasetIndex].name + ' ' + item.parsed.y.toFixed(data.kind === 'area' ? 3 : 1)
          }
        }
      }
    };
  }

  function draw(canvas, data) {
    const area = data.kind === 'area';
    return new Chart(canvas, {
      type: 'line',
      data: {
        datasets: data.series.map((s) => ({label: s.label, data: s.y.map((y, i) => ({x: data.x[i], y})), pointRadius: 0,
          borderWidth: s.name === 'mean' ? 2.5 : 1.2, fill: area ? 'origin' : false, stepped: area ? 'middle' : false}))
      },
      options: options(data),
      plugins: [ranges]
    });
  }

  function paint(theme) {
    for (const chart of charts) {
      chart.canvas.source.series.forEach((s, i) => {
        const colour = theme[s.name];
        chart.data.datasets[i].borderColor = colour;
        chart.data.datasets[i].backgroundColor = colour;
      });
      chart.options.plugins.legend.labels.color = theme.ink;
      for (const scale of [chart.options.scales.x, chart.options.scales.y]) {
        scale.ticks.color = scale.title.color = theme.ink;
        scale.grid.color = scale.grid.borderColor = theme.line;
      }
      chart.update('none');
    }
  }
  const repaint = () => paint(wantsDark.matches ? dark : light);

  // from and to are positions; without them all is shown.
  function zoom(group, from, to) {
    for (const chart of charts.filter((c) => c.canvas.source.group === group)) {
      const x = chart.canvas.source.x;
      chart.options.scales.x.min = from === undefined ? x[0] : from;
      chart.options.scales.x.max = to === undefined ? x[x.length - 1] : to;
      chart.whole.hidden = from === undefined;
      chart.update('none');
    }
  }

  function followPointer(chart) {
    const canvas = chart.canvas;
    const box = document.createElement('div');
    box.className = 'selection';
    let start = null;
    const place = (event) => {
      const x = event.clientX - canvas.getBoundingClientRect().left;
      return Math.min(chart.chartArea.right, Math.max(chart.chartArea.left, x));
    };
    const move = (event) => {
      const now = place(event);
      const {top, bottom} = chart.chartArea;
      box.style.cssText = `left:${Math.min(start, now)}px;width:${Math.abs(now - start)}px;top:${top}px;` +
        `height:${bottom - top}px`;
      canvas.parentNode.appendChild(box);
    };
    const end = (event) => {
      box.remove();
      window.removeEventListener('pointermove', move);
      window.removeEventListener('pointerup', end);
      window.removeEventListener('pointercancel', end);
      if (event.type !== 'pointerup') return;
      const ends = [start, place(event)].sort((a, b) => a - b).map((x) => Math.round(chart.scales.x.getValueForPixel(x)));
      if (ends[1] - ends[0] >= 2) zoom(canvas.source.group, ends[0], ends[1]);
    };
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      start = place(event);
      window.addEventListener('pointermove', move);
      window.addEventListener('pointerup', end);
      window.addEventListener('pointercancel', end);
    });
    canvas.addEventListener('dblclick', () => zoom(canvas.source.group));
  }

  // The chart in light colours below its title.
  function save(chart) {
    paint(light);
    const ratio = chart.currentDevicePixelRatio;
    const picture = document.createElement('canvas');
    picture.width = chart.canvas.width;
    picture.height = chart.canvas.height + 30 * ratio;
    const to = picture.getContext('2d');
    to.fillStyle = light.ground;
    to.fillRect(0, 0, picture.width, picture.height);
    to.fillStyle = light.text;
    to.font = `600 ${14 * ratio}px system-ui, sans-serif`;
    const sample = document.querySelector('h1').textContent;
    to.fillText(`${sample}: ${chart.canvas.source.title}`, 8 * ratio, 20 * ratio);
    to.drawImage(chart.canvas, 0, 30 * ratio);
    repaint();
    picture.toBlob((blob) => {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(blob);
      link.download = `${sample}.${chart.canvas.dataset.chart.slice('data_'.length)}.png`.replace(/[^\w.-]+/g, '_');
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }

  function addButtons(chart) {
    const tools = document.createElement('div');
    tools.className = 'tools';
    const add = (text, action) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = text;
      button.title = `${text}: ${chart.canvas.source.title}`;
      button.addEventListener('click', action);
      tools.appendChild(button);
      return button;
    };
    chart.whole = add('All', () => zoom(chart.canvas.source.group));
    chart.whole.hidden = true;
    add('Save PNG', () => save(chart));
    chart.canvas.parentNode.appendChild(tools);
  }

  Chart.defaults.devicePixelRatio = Math.max(2, window.devicePixelRatio);  // saved pictures are sharp too
  for (const canvas of document.querySelectorAll('canvas[data-chart]')) {
    const data = JSON.parse(document.getElementById(canvas.dataset.chart).textContent);
    canvas.source = data;
    const chart = draw(canvas, data);
    followPointer(chart);
    addButtons(chart);
    charts.push(chart);
  }
  repaint();
  wantsDark.addEventListener('change', repaint);
  window.addEventListener('beforeprint', () => paint(light));
  window.addEventListener('afterprint', repaint);
})();
