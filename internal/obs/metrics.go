package obs

import (
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the daemon's numbers. A method that fails is logged once and changes nothing (CAP-14). A nil *Metrics counts
// nothing.
type Metrics struct {
	registry     *prometheus.Registry
	requests     *prometheus.CounterVec
	latency      *prometheus.HistogramVec
	calls        *prometheus.HistogramVec
	turns        prometheus.Counter
	commits      *prometheus.CounterVec
	publications prometheus.Counter
	skips        prometheus.Counter
	faults       *prometheus.CounterVec

	log  *slog.Logger
	once sync.Once
}

// latencyBuckets reach from a store read to a compaction with a model, in seconds.
var latencyBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .15, .3, .5, 1, 2.5, 5, 10, 30, 60, 300}

// NewMetrics makes a registry of its own: several daemons can live in one process.
func NewMetrics(log *slog.Logger) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(), log: log,
		requests: counters("skald_http_requests_total", "Answered requests.", "route", "status"),
		latency:  histogram("skald_http_request_seconds", "Time of a request.", "route"),
		calls:    histogram("skald_engine_call_seconds", "Time of a call of the engine.", "call", "outcome"),
		turns:    counter("skald_turns_stored_total", "Turns stored."),
		commits:  counters("skald_commits_total", "Commits by outcome.", "outcome"),
		publications: counter("skald_publications_total",
			"Publications: summaries that replaced raw turns in what models see."),
		skips:  counter("skald_recall_skips_total", "Recalls cut or skipped by their deadline."),
		faults: counters("skald_faults_total", "Failures inside the engine that hosts survived.", "op"),
	}
	m.registry.MustRegister(m.requests, m.latency, m.calls, m.turns, m.commits, m.publications, m.skips, m.faults,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histogram(name, help string, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: latencyBuckets}, labels)
}

// Handler serves the numbers in Prometheus' text form.
func (m *Metrics) Handler() http.Handler {
	if m == nil {
		return http.NotFoundHandler()
	}
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Register adds a collector of somebody else's, for example gauges of the queue.
func (m *Metrics) Register(c prometheus.Collector) error { return m.registry.Register(c) }

// Request counts an answered request. route is a pattern, never a path.
func (m *Metrics) Request(route string, status int, d time.Duration) {
	m.safely(func() {
		m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
		m.latency.WithLabelValues(route).Observe(d.Seconds())
	})
}

// Call measures a call of the engine.
func (m *Metrics) Call(name string, err error, d time.Duration) {
	m.safely(func() { m.calls.WithLabelValues(name, outcome(err)).Observe(d.Seconds()) })
}

// TurnsStored counts turns that became durable.
func (m *Metrics) TurnsStored(n int) { m.safely(func() { m.turns.Add(float64(n)) }) }

// Commit counts a finished commit.
func (m *Metrics) Commit(err error) {
	m.safely(func() { m.commits.WithLabelValues(outcome(err)).Inc() })
}

// Publication counts a publication.
func (m *Metrics) Publication() { m.safely(func() { m.publications.Inc() }) }

// RecallSkip counts a recall that its deadline cut.
func (m *Metrics) RecallSkip() { m.safely(func() { m.skips.Inc() }) }

// Fault counts a failure inside the engine. op is of a bounded set.
func (m *Metrics) Fault(op string) { m.safely(func() { m.faults.WithLabelValues(op).Inc() }) }

func outcome(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}

// safely keeps a failing sink away from what it observes.
func (m *Metrics) safely(observe func()) {
	if m == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			m.once.Do(func() {
				if m.log != nil {
					m.log.Error("metrics fail; further failures are not logged", "panic", fmt.Sprint(p))
				}
			})
		}
	}()
	observe()
}
